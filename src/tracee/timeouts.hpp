#pragma once
// System calls whose timeout would begin anew when they are repeated, for the kernel does not
// remember what is left of it (as it does for poll and nanosleep).

#include <sys/types.h>

#include <chrono>

namespace tracso::tracee {

/// For a thread that is stopped in such a call, which the kernel will repeat: it waits for so much
/// less. Changes the register of the timeout, or puts what is left below the red zone of its stack
/// and lets the register point there: after the call the program finds that there, in a register
/// that functions may change. false: nothing is changed: it has no timeout, or one that is not
/// among its arguments (SO_RCVTIMEO), or the processor is not known here.
bool shorten_timeout(pid_t thread, std::chrono::nanoseconds waited);

}  // namespace tracso::tracee
