#pragma once
// Starts a command as a shell would, but held before its exec until we say go.

#include "tracso/result.hpp"

#include "base/unique_fd.hpp"
#include "launch/own_signals.hpp"

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tracso::launch {

/// Where the command's standard output goes.
enum class CommandOutputTo : std::uint8_t { our_stdout, our_stderr };

/// Whom a command runs as.
struct CommandUser {
  uid_t user = 0;
  gid_t group = 0;
  std::vector<gid_t> groups;  ///< supplementary ones
};

class HeldCommand {
 public:
  /// The child exists and waits. Its descriptors, environment, signal state, process group and
  /// terminal are ours as `signals` found them, and so is its user unless there is another
  /// (nullptr: none), which takes root.
  static Result<HeldCommand> start(const std::vector<std::string>& argv,
                                   CommandOutputTo output,
                                   const OwnSignals& signals,
                                   const CommandUser* user = nullptr);

  pid_t pid() const { return pid_; }

  /// Lets it call exec.
  void go();

  /// Why exec failed; nullopt: it has not (yet). Never blocks.
  std::optional<Error> failure() const;
  /// The same, but waits until exec has succeeded or failed. Only for a child that nobody stops.
  std::optional<Error> await_failure() const;

 private:
  pid_t pid_ = 0;
  std::string name_;
  // Both ends of the first: without a reader, go() for a dead child would kill us (SIGPIPE).
  UniqueFd go_, go_reader_, failure_;
};

/// What a failed exec of `name` means: not_found (a shell's 127) or denied (126), in words.
Error exec_error(int number, const std::string& name);

}  // namespace tracso::launch
