#pragma once
// Holds one thread of a running process for a moment.
//
// To be used in a thread of ours that ends soon: a thread that was asleep in the kernel beyond the
// limit stays traced until then, and the kernel lets everything go that a tracer leaves behind (so
// also if we are killed). What the thread may notice: a system call that has a timeout may begin
// it anew. EINTR it does not see on x86-64; elsewhere as in stopped_process.hpp.

#include "tracee/registers.hpp"

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>

namespace tracso::tracee {

enum class Hold : std::uint8_t {
  held,
  gone,    ///< the thread has ended
  denied,  ///< the kernel does not permit it, or another tracer is there
  late     ///< it did not stop within the limit
};

struct HoldResult {
  Hold outcome = Hold::gone;
  std::chrono::nanoseconds held{0};  ///< from our request to the release
};

/// Stops the thread, calls `look`, lets it run on. A process that is stopped (SIGSTOP) stays so.
HoldResult hold_thread(pid_t thread,
                       std::chrono::milliseconds limit,
                       const std::function<void(const Registers&)>& look);

}  // namespace tracso::tracee
