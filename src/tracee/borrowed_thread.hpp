#pragma once
// One thread of a running process, borrowed for a moment: it calls functions there for us and then
// goes on as if nothing had been. The other threads run on.
//
// It works in memory that is mapped for it (workshop.hpp), on a stack of its own, for the one it
// had may be small, with all signals blocked but those of faults. Its code says in memory that a
// call is done and waits for us. If we never come, for we have been killed, it gives itself back
// what it had, by rt_sigreturn(2). The system calls that map and unmap the workshop are made by an
// instruction of the C library behind which a "ret" stands, and that leads to rt_sigreturn, too. So
// the process survives us at any time. All of it must be called by one thread of ours (ptrace(2)).

#include "tracso/result.hpp"

#include "base/unique_fd.hpp"
#include "tracee/thread_state.hpp"
#include "tracee/workshop.hpp"

#include <sys/types.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tracso::tracee {

class BorrowedThread {
 public:
  using Clock = std::chrono::steady_clock;

  /// Stops it. denied: the kernel does not permit it, or another tracer is there; not_found: no
  /// such thread; interrupted: it did not stop within the limit. Then, or if it stopped for
  /// something else, it is let go (at the latest when our own thread ends).
  static Result<BorrowedThread> stop(pid_t process, pid_t thread, std::chrono::milliseconds limit);

  BorrowedThread(BorrowedThread&& other) noexcept;
  BorrowedThread(const BorrowedThread&) = delete;
  BorrowedThread& operator=(const BorrowedThread&) = delete;
  BorrowedThread& operator=(BorrowedThread&&) = delete;
  /// let_go().
  ~BorrowedThread();

  pid_t thread() const { return thread_; }

  /// As it was when it stopped.
  const ThreadState& state() const { return state_; }

  static constexpr std::uint64_t workshop_bytes = 512 * 1024;

  /// Where it is mapped; 0: not yet.
  std::uint64_t workshop() const { return workshop_; }

  /// Maps the workshop at `place`, where so much is free. `instruction`: the address of "syscall;
  /// ret" in the process; `restorer`: of code that calls rt_sigreturn. unsupported: there is too
  /// little room on its stack, less than a signal needs, or no memory.
  Result<Done> prepare(std::uint64_t instruction, std::uint64_t restorer, std::uint64_t place);

  /// Calls a function of the process and waits. interrupted: not done within the limit, or the
  /// process ended; failed: it faulted. Then no more can be called.
  Result<std::uint64_t> call(std::uint64_t function,
                             const std::array<std::uint64_t, 6>& arguments,
                             std::chrono::milliseconds limit);
  /// Several, one after the other, in one go: each way there and back takes as long as two threads
  /// have to wait for a processor. Their results, in order; at most 16. Errors as of call().
  Result<std::vector<std::uint64_t>> call_all(std::span<const RemoteCall> calls,
                                              std::chrono::milliseconds limit);
  /// A system call for call_all().
  RemoteCall as_call(std::int64_t number, const std::array<std::uint64_t, 5>& arguments) const;
  /// A system call; results below zero are negated error numbers.
  Result<std::int64_t> system_call(std::int64_t number,
                                   const std::array<std::uint64_t, 5>& arguments);

  /// Puts a text of less than 512 bytes where the process can read it, until the next one in one of
  /// the four places. 0: too long, or not to be had.
  std::uint64_t put_text(const std::string& text, std::size_t place = 0);
  bool read(std::uint64_t address, std::span<std::byte> into) const;
  bool write(std::uint64_t address, std::span<const std::byte> bytes) const;

  /// After a call that did not return in time: the thread goes on with it alone and gives itself
  /// back what it had.
  void leave_alone();
  /// After such a call: the system call it waits in; nullopt: it is not waiting.
  std::optional<ThreadState> waiting() const;
  /// After a call that waits for a lock, and has taken none: it is taken out of it, and what it has
  /// noted in the thread's own memory about the workshop is forgotten.
  void take_out();
  /// Everything is as it was, and it runs. How long it was held.
  std::chrono::nanoseconds let_go();

 private:
  BorrowedThread(pid_t process, pid_t thread, ThreadState state, UniqueFd memory, int signal);

  Result<Done> make_system_call(std::int64_t number, const std::array<std::uint64_t, 6>& arguments);
  bool write_calls(std::span<const RemoteCall> calls);
  Result<Done> await_done(Clock::time_point end);
  std::optional<Error> look_at_report();
  bool stop_again();
  bool await_trap();
  void write_workshop();
  void keep_thread_memory();
  bool write_way_back(std::uint64_t restorer);
  Error gone() const;

  pid_t process_, thread_;
  ThreadState state_;
  UniqueFd memory_;
  int signal_ = 0;  // to be delivered when it goes
  std::uint64_t instruction_ = 0, way_back_ = 0, waiting_ = 0, workshop_ = 0;
  std::vector<std::uint64_t> thread_memory_;  // as it was
  bool held_ = true, faulted_ = false;
  Clock::time_point since_;
  std::chrono::nanoseconds duration_{0};
};

}  // namespace tracso::tracee
