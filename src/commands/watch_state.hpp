#pragma once
// What `tracso watch` knows of a process: samples, what has happened, what grows.

#include "tracso/resources.hpp"
#include "tracso/target.hpp"

#include "analysis/growth.hpp"
#include "os/sampler.hpp"

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tracso {

struct WatchEvent {
  double seconds = 0;  ///< since the watching began
  std::string what;    ///< "library-loaded", "descriptor-opened", ... for scripts
  std::string text;    ///< foreign bytes
};

struct WatchSample {
  double seconds = 0;
  os::QuickLook look;
  double cpu_share = 0;                        ///< processors used since the sample before
  std::optional<std::uint64_t> private_bytes;  ///< of the last look at classes
  std::uint64_t children = 0, children_resident = 0;
};

class WatchState {
 public:
  using Clock = std::chrono::steady_clock;

  /// Errors: no such process, not permitted.
  static Result<std::unique_ptr<WatchState>> open(std::int32_t pid, bool children);

  /// Looks once: quickly always, at libraries once a second, at the memory's classes every five
  /// seconds, or more rarely where that takes long. The events since the last look; an Error: the
  /// process has ended.
  Result<std::vector<WatchEvent>> look();

  std::int32_t pid() const { return sampler_.pid(); }

  /// How often it has looked.
  std::size_t looks() const { return looks_; }

  const std::string& name() const { return name_; }

  const std::deque<WatchSample>& samples() const { return samples_; }

  const std::deque<WatchEvent>& events() const { return events_; }

  const std::optional<MemoryByClass>& classes() const { return classes_; }

  /// Seconds before the latest sample at which the classes were looked at.
  double classes_age() const { return samples_.back().seconds - classes_at_; }

  /// Seconds.
  double since_begin() const;

  std::string verdict() const { return growth_verdict(history_, is_python_); }

  /// Seconds until the process meets its limit of descriptors; nullopt: it does not.
  std::optional<double> descriptor_forecast() const;

  std::optional<std::uint64_t> descriptor_limit() const { return limit_; }

 private:
  WatchState(os::Sampler sampler, std::unique_ptr<ProcessSource> process, bool children);

  void look_at_libraries(std::vector<WatchEvent>& events);
  void look_at_descriptors(std::vector<WatchEvent>& events);
  void look_at_threads(std::vector<WatchEvent>& events);
  void look_at_classes();
  void look_at_children(WatchSample& sample, std::vector<WatchEvent>& events);
  void tell(std::vector<WatchEvent>& events, std::string what, std::string text) const;

  os::Sampler sampler_;
  std::unique_ptr<ProcessSource> process_;
  bool with_children_;
  std::string name_;
  Clock::time_point begin_ = Clock::now(), next_libraries_ = begin_, next_classes_ = begin_;
  std::deque<WatchSample> samples_;
  std::deque<WatchEvent> events_;
  std::optional<std::set<std::string>> libraries_;
  std::optional<std::vector<Descriptor>> descriptors_;
  std::optional<std::map<std::int32_t, std::string>> threads_, children_;
  std::optional<MemoryByClass> classes_;
  ClassHistory history_;
  double classes_at_ = 0;  // since the begin
  bool is_python_ = false;
  std::size_t looks_ = 0;
  std::optional<std::uint64_t> limit_;
};

}  // namespace tracso
