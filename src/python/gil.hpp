#pragma once
// Who holds the global interpreter lock? (struct _gil_runtime_state, Include/internal/pycore_gil.h)

#include "python/memory_objects.hpp"

#include <cstdint>
#include <optional>

namespace tracso::python {

struct Gil {
  std::uint64_t start = 0, end = 0;  ///< where it lies: who waits for it waits on a word in there
  std::uint64_t holder = 0;          ///< PyThreadState; 0: nobody holds it
};

/// The lock of an interpreter state (until 3.11 all have one). nullopt: a free-threaded build, a
/// version whose lock tracso does not know, or what is there is not a lock.
std::optional<Gil> read_gil(Objects& objects, std::uint64_t runtime, std::uint64_t interpreter);

}  // namespace tracso::python
