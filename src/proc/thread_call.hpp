#pragma once
// /proc/PID/task/TID/syscall (proc_pid_syscall(5)): the system call a blocked thread is in.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tracso::proc {

struct ThreadCall {
  bool running = false;      ///< it was on a processor: nothing else is known
  std::int64_t number = -1;  ///< -1: blocked, but not in a system call (page fault)
  std::array<std::uint64_t, 6> arguments{};
  std::uint64_t stack_pointer = 0, program_counter = 0;
  bool operator==(const ThreadCall&) const = default;
};

/// nullopt: not such a text (a kernel thread's is empty).
std::optional<ThreadCall> parse_thread_call(std::string_view text);

/// What a system call that can block waits on.
enum class CallRole : std::uint8_t {
  other,
  descriptor,   ///< argument 0 is a descriptor
  descriptors,  ///< several of them (poll, select)
  futex,        ///< argument 0 is the address of its word, argument 1 the operation
  time,
  child
};

struct CallKind {
  std::string name;
  CallRole role = CallRole::other;
};

/// By the numbers of the processor this program was built for; "call 999" for one that does not
/// block or is not known.
CallKind call_kind(std::int64_t number);

}  // namespace tracso::proc
