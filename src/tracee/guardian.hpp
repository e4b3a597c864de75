#pragma once
// A process of ours that outlives us.
//
// If we are killed (SIGKILL), the kernel lets our tracees go, but the breakpoints stay in their
// memory, and the next thread that meets one dies of SIGTRAP. (Debug registers would be no better:
// they stay set, too.) So a small process knows all that we have put where, holds the memory open,
// and puts the original bytes back when we are gone. What is left is the moment in between, some
// microseconds, and a thread that stands at a breakpoint when we are killed.
//
// It writes by way of /proc/PID/mem, into code: a kernel that leaves that to tracers, or to nobody
// (proc_mem.force_override=ptrace, never; Linux 6.12), refuses it, and then the bytes stay.
//
// The beginning of a function that does nothing but return, in whose place other code stands
// (Breakpoints::replace), does as well without us. It comes back nevertheless, for the code there
// may read the clock, which a program can forbid itself (PR_SET_TSC). Nobody holds the threads
// then: so first one byte makes it a return, then the rest is written behind that, then the first
// byte. Each of them is written whole, and a thread that comes between two of them returns.
// Processors are given time between, so that none has the older bytes in its pipeline. What the
// other code led to stays, for a thread may be in it.
//
// It does the same where we end and nobody of the process could be stopped, so that we could not
// put the bytes back ourselves: a thread that waits in vfork for its child.
//
// And if we are stopped together with the command, somebody may continue the command alone: then it
// wakes us.

#include "tracso/result.hpp"

#include "base/unique_fd.hpp"

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace tracso::tracee {

/// More in one memory at once would not be guarded: whoever inserts must not.
constexpr std::size_t most_breakpoints = 16384;

class Guardian {
 public:
  /// Forks. Best done before there are descriptors that it should not hold. failed: no process or
  /// no socket to be had.
  static Result<std::unique_ptr<Guardian>> start();
  /// It puts back what still stands, as when we are killed, and ends.
  ~Guardian();
  Guardian(const Guardian&) = delete;
  Guardian& operator=(const Guardian&) = delete;

  /// From now on it is about the memory of that process, in which nothing stands yet.
  void guard(pid_t pid);
  /// A breakpoint is about to be put at the address, where these bytes are.
  void inserting(std::uint64_t address, const std::array<std::uint8_t, 8>& original);
  /// At the address, where a function begins that does nothing but return, other code is about to
  /// be put over the original; 8 bytes at most, as long as the original. Of more than a few it does
  /// not take care.
  void replacing(std::uint64_t address,
                 std::span<const std::uint8_t> original,
                 std::span<const std::uint8_t> code);
  /// We are about to be stopped by a SIGSTOP of our own. As soon as one of our tracees has
  /// something to tell, it continues us: nobody else may.
  void stopping();
  /// We run again.
  void running();

  pid_t pid() const { return pid_; }

  /// The original bytes are back, of a breakpoint or of what was replaced there.
  void removed(std::uint64_t address);

 private:
  Guardian(pid_t pid, UniqueFd socket) : pid_(pid), socket_(std::move(socket)) {}

  pid_t pid_;
  UniqueFd socket_;
};

}  // namespace tracso::tracee
