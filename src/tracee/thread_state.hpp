#pragma once
// All that a stopped thread's code could notice: its registers, those for vectors and floating
// point among them, and which signals it has blocked. x86-64 only; elsewhere nothing can be taken.

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tracso::tracee {

class ThreadState {
 public:
  /// nullopt: the thread is not stopped, not of 64 bits, or the processor is not known here.
  static std::optional<ThreadState> of(pid_t thread);

  /// Gives all of it back. A system call that the stop has interrupted begins again (signal(7)),
  /// also one of those that would fail with EINTR although they only wait. false: it has died.
  bool give_to(pid_t thread) const;

  std::uint64_t pc() const;
  std::uint64_t stack() const;
  /// By which the thread finds its own memory (fs_base).
  std::uint64_t thread_pointer() const;
  /// The system call that the stop has interrupted while it waited; nullopt: none, or it was done.
  std::optional<std::int64_t> interrupted_call() const;
  /// Its first two arguments.
  std::array<std::uint64_t, 2> call_arguments() const;

  /// The thread in the middle of a call: at `pc`, with an own stack, and `data` in a register that
  /// calls keep (rbx). All other signals than those of faults are blocked.
  bool borrow(pid_t thread, std::uint64_t pc, std::uint64_t stack, std::uint64_t data) const;
  /// The thread about to make a system call, standing at such an instruction, with that stack.
  bool prepare_system_call(pid_t thread,
                           std::uint64_t instruction,
                           std::uint64_t stack,
                           std::int64_t number,
                           const std::array<std::uint64_t, 6>& arguments) const;

  /// What rt_sigreturn(2) takes: with the stack pointer at `context`, it makes the thread what it
  /// was without our doing. `vectors` is a multiple of 64 where vectors() will lie.
  std::vector<std::byte> context(std::uint64_t vectors) const;
  /// The same, but it makes the thread wait with that stack, in a ppoll(2) that is made by such an
  /// instruction, for the time that stands at `pause`.
  std::vector<std::byte> waiting_context(std::uint64_t vectors,
                                         std::uint64_t instruction,
                                         std::uint64_t stack,
                                         std::uint64_t pause) const;
  /// Is it in that call?
  bool is_waiting_at(std::uint64_t instruction, std::uint64_t stack) const;
  std::vector<std::byte> vectors() const;

 private:
  std::vector<std::byte> general_, vectors_;
  std::uint64_t blocked_ = 0;
};

}  // namespace tracso::tracee
