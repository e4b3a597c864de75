#pragma once
// A stop at the entry or the return of a system call, as the kernel tells it, and the registers
// that carry floating-point values.

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <optional>

namespace tracso::tracee {

struct CallStop {
  bool entry = false;
  bool native = false;       ///< by the 64-bit table of this processor
  std::uint64_t number = 0;  ///< of an entry
  std::array<std::uint64_t, 6> arguments{};
  std::int64_t result = 0;  ///< of a return; below zero with `failed`: the error number
  bool failed = false;
  std::uint64_t instruction = 0, stack = 0;
};

/// nullopt: the thread is not at one, or the kernel (before 5.3) does not tell.
std::optional<CallStop> call_stop(pid_t thread);

/// The lower halves of xmm0 to xmm7; nullopt: the thread has died, or another processor.
std::optional<std::array<std::uint64_t, 8>> floating_registers(pid_t thread);

}  // namespace tracso::tracee
