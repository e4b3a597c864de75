#pragma once
// A process that runs already, under the engine.

#include <sys/types.h>

namespace tracso::calls {

/// A thread that our interruption has stopped: the system call that it waited in begins again, also
/// one that would fail with EINTR (epoll_wait).
void go_on_waiting(pid_t thread);

}  // namespace tracso::calls
