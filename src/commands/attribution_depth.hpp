#pragma once
// How much --attribution of `tracso stat` tells.

#include <cstdint>

namespace tracso {

enum class AttributionDepth : std::uint8_t {
  parts,   ///< --attribution: the parts of resident memory, and tracemalloc's lines
  objects  ///< --attribution=objects: Python objects by type as well
};

}  // namespace tracso
