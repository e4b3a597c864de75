#pragma once
// The few system calls that decide whether a process can stay traced by us.

#include <sys/types.h>

#include <cstdint>
#include <optional>

namespace tracso::tracee {

/// What a thread that has stopped at a system call is about to do.
struct SystemCall {
  enum class Kind : std::uint8_t {
    other,
    asks_to_be_traced,  ///< ptrace(PTRACE_TRACEME)
    traces,             ///< PTRACE_ATTACH or PTRACE_SEIZE of `target`
    executes,           ///< execve, execveat
    returned            ///< it is at the end of a call, not at the beginning
  };
  Kind kind = Kind::other;
  pid_t target = 0;         ///< as the thread numbers it
  std::uint64_t path = 0;   ///< executes: address of the path
  std::int32_t folder = 0;  ///< executes: the descriptor that the path is relative to, or AT_FDCWD
};

/// nullopt: the thread is not at one, or the kernel (before 5.3) does not tell.
std::optional<SystemCall> current_call(pid_t thread);

/// Would the program that the thread is about to execute get privileges (set-user-ID, set-group-ID,
/// file capabilities) that the kernel withholds from it because it is traced by us?
bool would_lose_privileges(pid_t thread, const SystemCall& call);

}  // namespace tracso::tracee
