#pragma once
// A process that runs already, under the engine.

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>

namespace tracso::calls {

/// A thread that our interruption has stopped: the system call that it waited in begins again, also
/// one that would fail with EINTR (epoll_wait). Its number, or nullopt: it waited in none. Those
/// with a timeout that the kernel remembers (poll, nanosleep) go on as restart_syscall(2), with
/// what is left; of others that is so where we know how long they have waited.
std::optional<std::uint64_t> go_on_waiting(
    pid_t thread, std::chrono::nanoseconds waited = std::chrono::nanoseconds(0));

}  // namespace tracso::calls
