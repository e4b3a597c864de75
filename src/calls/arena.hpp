#pragma once
// The memory shared with the agents in traced processes, and the way to get an agent into them.

#include "tracso/calls.hpp"
#include "tracso/result.hpp"

#include "base/unique_fd.hpp"
#include "calls/filter.hpp"
#include "calls/prototype_finder.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tracso::calls {

struct ArenaOptions {
  CallMode mode = CallMode::adaptive;
  bool follow = false, inside = false;
  Filter filter;
  bool user_has_preload = false;
  std::string user_preload;
  bool record = false;            ///< each call with its arguments (event_stream.hpp)
  bool drop = false;              ///< rather lose events than let the command wait for us
  bool attached = false;          ///< to a process that runs already
  std::uint32_t text_bytes = 32;  ///< copied of a text; at most tracso_most_text_bytes
  std::shared_ptr<const PrototypeFinder> prototypes = nullptr;  ///< nullptr: only the built-in ones
};

class Arena {
 public:
  /// unsupported: a build without an agent. failed: no memory, no memfd.
  static Result<Arena> make(const ArenaOptions& options);

  /// For a process that runs already, around memory that it has made itself.
  static Result<Arena> adopt(UniqueFd memory, const ArenaOptions& options);

  /// NAME and value that the command's environment needs.
  std::vector<std::pair<std::string, std::string>> environment() const;

  /// What the agents have counted so far. The rows are not grouped: one per function, caller,
  /// callee, thread and program. `seconds_per_tick` from the clock of the processor.
  void read(double ns_per_tick, CallsReport& into) const;

  /// The shared memory; no shorter than it was made where calls are recorded.
  int memory() const { return memory_.get(); }

  /// What was asked for.
  const Filter& filter() const { return filter_; }

  /// Processes that asked for a region; more than there are: some got none.
  std::uint32_t regions() const;

 private:
  Arena(UniqueFd agent, UniqueFd memory, std::string preload, Filter filter)
      : agent_(std::move(agent)),
        memory_(std::move(memory)),
        preload_(std::move(preload)),
        filter_(std::move(filter)) {}

  UniqueFd agent_, memory_;
  std::string preload_;
  Filter filter_;
};

/// When a process was started (proc_pid_stat(5), field 22); 0: there is none.
std::uint64_t start_time(std::int32_t pid);

/// Measures the rate of the time stamp counter between its making and the question.
class TickRate {
 public:
  TickRate();
  /// 0 on processors without such a counter.
  double ns_per_tick() const;

  /// Ticks at its making, and now.
  std::uint64_t start() const { return tick_; }

  std::uint64_t now() const;

 private:
  std::uint64_t tick_ = 0;
  std::chrono::steady_clock::time_point time_;
};

}  // namespace tracso::calls
