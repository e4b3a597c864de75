#pragma once
// One run of a command, measured from its first instruction to its end.

#include "tracso/stat.hpp"

#include "commands/attribution.hpp"
#include "commands/memory_sampling.hpp"
#include "commands/stat_request.hpp"
#include "commands/stat_run.hpp"
#include "launch/run.hpp"
#include "proc/counters.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tracso {

/// Its options are those of the run; afterwards finish() gives the answer.
class Measurement {
 public:
  Measurement(const StatRequest& request, const std::function<void(std::int32_t)>& on_interval)
      : request_(request), on_interval_(on_interval) {
    if (request.attribution) {
      attribution_.emplace(*request.attribution);
    }
    if (request.sample) {
      sampling_.emplace(*request.sample);
    }
  }

  launch::RunOptions options(bool output_to_stderr);
  StatRun finish(const launch::RunResult& result);

 private:
  void executed(const launch::Moment& moment);
  void thread_ended(const launch::ThreadEnd& end);
  void child_ended(std::int32_t pid, std::int32_t thread);
  void whole(const launch::Moment& moment);
  void interval(std::int32_t pid);
  void take_orphans(std::int32_t command);
  void look_from_afar(std::int32_t pid);
  void tell(const std::string& line) const;  // -v
  std::string why_no_end(const launch::RunResult& result) const;
  Stat assemble(const launch::RunResult& result);

  const StatRequest& request_;
  const std::function<void(std::int32_t)>& on_interval_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::set<std::int32_t> own_children_;  // ours from before: helpers, no orphans
  std::optional<std::vector<Descriptor>> before_;
  bool after_warm_up_ = false;
  Activity activity_before_;
  std::int64_t cpu_before_ = 0;
  std::map<std::int32_t, ThreadInfo> last_threads_;  // alive until the process ended
  std::optional<proc::Switches> ended_switches_;     // of threads that have ended
  ChildPeaks child_peaks_;                           // of those that have ended
  std::optional<AttributionLooks> attribution_;
  std::optional<MemorySampling> sampling_;
  std::optional<Stat> taken_;
};

}  // namespace tracso
