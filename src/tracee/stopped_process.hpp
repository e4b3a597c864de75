#pragma once
// Stops a running process for a short look and lets it run on, whatever happens to us meanwhile.
//
// A thread of ours does the tracing and ends with it: the kernel lets everything go that a tracer
// leaves behind, so also a target's thread that was asleep in the kernel beyond the limit and
// would stop later, with nobody there.
//
// What the target may notice: system calls that are not restarted after a stop return EINTR
// (epoll_wait, semop, sigtimedwait, recv and accept with a timeout).

#include "tracso/result.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace tracso::tracee {

class StoppedProcess {
 public:
  /// Returns when every thread stands still. not_found; denied (the kernel does not permit it, or
  /// another tracer is there); interrupted (a thread did not stop within the limit: then all run
  /// on).
  static Result<StoppedProcess> stop(std::int32_t pid, std::chrono::milliseconds limit);

  StoppedProcess(StoppedProcess&&) noexcept;
  StoppedProcess& operator=(StoppedProcess&&) noexcept;
  StoppedProcess(const StoppedProcess&) = delete;
  StoppedProcess& operator=(const StoppedProcess&) = delete;
  /// Lets it run on, if that has not been done.
  ~StoppedProcess();

  std::size_t threads() const;

  /// Lets it run on. How long it stood still, from the first thread's request to the last one's
  /// release; the same again when called again.
  std::chrono::nanoseconds release();

 private:
  class Worker;
  explicit StoppedProcess(std::unique_ptr<Worker> worker);
  std::unique_ptr<Worker> worker_;
};

}  // namespace tracso::tracee
