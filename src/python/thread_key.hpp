#pragma once
// How a thread is known.

#include <sys/types.h>

#include <cstdint>

namespace tracso::python {

/// To the kernel, and to itself.
struct ThreadKey {
  pid_t id = 0;               ///< kernel thread id, as we see it
  std::uint64_t pointer = 0;  ///< its thread pointer (fs_base, tpidr_el0); 0: not known
  std::uint64_t stack = 0;    ///< its stack pointer, only to read well ahead; 0: not known
};

}  // namespace tracso::python
