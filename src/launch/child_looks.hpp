#pragma once
// What the children of a command had mapped when they ended.
//
// Each is looked at while it stands at its last stop: its command line and the names of the files
// it has mapped as code, some tens of microseconds. Only one that has a file which neither the
// command nor a child before it had is shown to the caller, who may look closer. All of it is
// bounded: a command may start any number of children.

#include "launch/code_files.hpp"
#include "launch/run.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace tracso::launch {

/// One child at its end.
struct ChildLook {
  std::string command;  ///< its command line, words separated by spaces; empty: not readable
  std::shared_ptr<const CodeFiles> files;
};

class ChildLooks {
 public:
  /// `show` gives a child to the caller; false: that failed. It may be empty.
  explicit ChildLooks(std::function<bool(const Moment&)> show) : show_(std::move(show)) {}

  /// nullopt: not readable, or there is no more room. `main`: what the command has now.
  std::optional<ChildLook> look(const ProcessSource& child,
                                const std::optional<CodeFiles>& main,
                                const Moment& moment);

  /// The command has become another program: the children until now were the former one's.
  void begin_anew();

  /// The command at the moment that counts.
  void main_was(std::optional<CodeFiles> files) { main_ = std::move(files); }

  /// What a child had beyond the command.
  std::vector<MappedFile> beyond(const CodeFiles& files) const;

  /// How many children had files that the caller has not been shown.
  std::size_t unshown() const;

 private:
  void show(const CodeFiles& files, const std::optional<CodeFiles>& main, const Moment& moment);

  std::function<bool(const Moment&)> show_;
  std::set<std::shared_ptr<const CodeFiles>,
           bool (*)(const std::shared_ptr<const CodeFiles>&,
                    const std::shared_ptr<const CodeFiles>&)>
      known_{[](const auto& a, const auto& b) { return *a < *b; }};
  std::size_t kept_files_ = 0;
  std::set<MappedFile> shown_;
  std::vector<std::shared_ptr<const CodeFiles>> left_out_;  // one for each child
  std::size_t shows_ = 0;
  std::chrono::nanoseconds show_time_{0};
  std::optional<CodeFiles> main_;
};

}  // namespace tracso::launch
