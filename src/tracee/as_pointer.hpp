#pragma once

#include <cstdint>

namespace tracso::tracee {

/// As ptrace(2) takes addresses of another process, and numbers too.
inline void* as_pointer(std::uint64_t value) {
  return reinterpret_cast<void*>(  // NOLINT(performance-no-int-to-ptr)
      static_cast<std::uintptr_t>(value));
}

}  // namespace tracso::tracee
