#pragma once
// The process between us and gdb. It alone sends signals to gdb, and only where that is safe for
// the target; when we leave or die it stays until gdb has gone.

#include <sys/types.h>

namespace tracso::os {

/// All that the guardian needs, prepared before the fork: after it nothing may allocate. Every
/// descriptor is 16 or more, so that putting them in place overwrites none of them.
struct GuardianPlan {
  const char* program = nullptr;  ///< full path of gdb
  char* const* argv = nullptr;
  char* const* environment = nullptr;
  int gate = -1;                               ///< read end; its hang-up means: leave
  int code = -1, answer = -1, registers = -1;  ///< given to gdb as gdb_protocol says
  int script = -1;                             ///< given to gdb as script_fd
  int lines_in = -1, lines_out = -1;           ///< pipe for what gdb prints
  int relay = -1;                              ///< write end to us, non-blocking
  pid_t target = 0;
  bool target_stopped = false;  ///< state T before: it must stay so
};

/// Where gdb finds its script.
constexpr int script_fd = 7;

/// The life of the guardian, to be called in a fresh child process; uses async-signal-safe
/// functions only.
[[noreturn]] void be_guardian(const GuardianPlan& plan);

}  // namespace tracso::os
