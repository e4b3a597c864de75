#pragma once
// Has a process become quiet? For --at idle.

#include "tracso/target.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tracso::launch {

/// What one look saw.
struct Activity {
  bool running = false;     ///< a thread runs, wants to, or waits for a disk
  bool suspended = false;   ///< stopped by job control: neither quiet nor busy
  std::uint64_t pages = 0;  ///< of the address space: every load changes it
  bool operator==(const Activity&) const = default;
};

/// Looks at the states of the threads (at most 4096) and at statm. nullopt: the process has ended.
std::optional<Activity> look_at_activity(const ProcessSource& process);

/// Quiet: for the given time no look saw a running thread, and no page came or went.
class QuietWatch {
 public:
  using Clock = std::chrono::steady_clock;

  explicit QuietWatch(std::chrono::milliseconds needed) : needed_(needed) {}

  /// true: it has been quiet for long enough.
  bool observe(const Activity& activity, Clock::time_point now);

 private:
  std::chrono::milliseconds needed_;
  std::optional<Clock::time_point> since_;
  std::uint64_t pages_ = 0;
};

}  // namespace tracso::launch
