#pragma once
// A process that runs already, under the engine.

#include <sys/types.h>

#include <cstdint>
#include <optional>

namespace tracso::calls {

/// A thread that our interruption has stopped: the system call that it waited in begins again, also
/// one that would fail with EINTR (epoll_wait). Its number, or nullopt: it waited in none. Those
/// with a timeout that the kernel remembers (poll, nanosleep) go on as restart_syscall(2), with
/// what is left.
std::optional<std::uint64_t> go_on_waiting(pid_t thread);

}  // namespace tracso::calls
