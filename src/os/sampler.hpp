#pragma once
// The quick look at a process, for whoever looks often: what it costs is measured in microseconds
// (docs/performance.md), and the process notices nothing.

#include "tracso/result.hpp"

#include "base/unique_fd.hpp"

#include <chrono>
#include <cstdint>
#include <ctime>

namespace tracso::os {

struct QuickLook {
  std::chrono::steady_clock::time_point at;
  std::uint64_t resident = 0, virtual_ = 0;  ///< bytes
  std::uint64_t anonymous = 0;               ///< of resident: neither of a file nor shared memory
  std::uint64_t descriptors = 0, threads = 0;
  std::chrono::nanoseconds cpu{0};  ///< of all its threads, since it began
};

/// How open descriptors are counted.
enum class CountBy : std::uint8_t {
  size,    ///< the size of /proc/PID/fd: Linux 6.2 and later
  listing  ///< its entries, one by one
};

/// Holds the files of one process open: five system calls a look, and a recycled number is never
/// taken for the process.
class Sampler {
 public:
  /// not_found: no such process, or a zombie. denied where even the count of descriptors is not
  /// for us.
  static Result<Sampler> open(std::int32_t pid);
  /// The same, with the way to count given: for kernels that a test does not have.
  static Result<Sampler> open(std::int32_t pid, CountBy by);

  std::int32_t pid() const { return pid_; }

  /// Every page of the process in 4 to 8 microseconds. interrupted: it has ended, also where it is
  /// a zombie, which reads as zeros.
  Result<QuickLook> look() const;

 private:
  Sampler() = default;

  Error ended() const;
  std::uint64_t count_descriptors() const;

  std::int32_t pid_ = 0;
  clockid_t clock_ = 0;
  CountBy by_ = CountBy::size;
  std::uint64_t page_bytes_ = 4096;
  UniqueFd process_, statm_, descriptors_, tasks_;
};

/// Lets the peak of a process (VmHWM) begin anew at what is resident now: with the next
/// one all here that changes something about it. denied, not_found.
Result<Done> reset_peak(std::int32_t pid);

/// Takes the kernel's marks of touched pages away, so that those which are touched from now on show
/// (Referenced of smaps). The process is not stopped; what is taken for unused under want of memory
/// may be another page for a while. denied, not_found.
Result<Done> forget_touched_pages(std::int32_t pid);

}  // namespace tracso::os
