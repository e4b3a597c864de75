#pragma once
// The last resort for CPython 3.13 and later: _Py_DebugOffsets, the first words of _PyRuntime,
// begins with the letters "xdebugpy". A program without section headers still has them in memory.

#include "tracso/mapping.hpp"
#include "tracso/target.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace tracso::python {

struct RuntimeCookie {
  std::uint64_t address = 0;  ///< of _PyRuntime
  std::uint32_t version = 0;  ///< PY_VERSION_HEX as the structure says it
  std::string object;         ///< path of the file whose data it is
};

/// Searches the writable mappings of files, at most 64 MB of them; in the order of addresses.
std::vector<RuntimeCookie> find_runtime_cookies(const ProcessSource& process,
                                                const std::vector<Mapping>& mappings);

}  // namespace tracso::python
