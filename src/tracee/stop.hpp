#pragma once
// What waitpid(2) says about a traced thread, in words (ptrace(2), "Stopped states").

#include <sys/types.h>

#include <cstdint>

namespace tracso::tracee {

enum class StopKind : std::uint8_t {
  exited,         ///< value: exit status
  killed,         ///< value: signal
  signal,         ///< about to receive signal `value`
  trap,           ///< our own interruption, the first stop of a newborn, or a SIGCONT
  group_stop,     ///< the whole process was stopped by signal `value`
  forked,         ///< fork or a clone that signals like one
  forked_shared,  ///< vfork, posix_spawn: the child lives in its parent's memory
  cloned,         ///< a thread, or a clone with another exit signal
  executed,       ///< a new program, none of it has run yet
  exiting,        ///< the last stop; the memory is still there
  system_call,    ///< at the entry or the return of one, where that was asked for
  other           ///< nothing that was asked for
};

struct Stop {
  StopKind kind = StopKind::other;
  int value = 0;
  bool operator==(const Stop&) const = default;
};

/// One answer of waitpid(2).
struct Report {
  pid_t thread = 0;
  int status = 0;
};

/// The meaning of a wait status of a thread that was seized (not attached).
Stop decode_status(int status);

}  // namespace tracso::tracee
