#pragma once
// What fills the memory at one moment and at a later one: the change.

#include "tracso/stat.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tracso {

/// One look.
struct AttributionLook {
  std::int64_t at_ns = 0;
  std::string moment;  ///< as in Attribution::last_moment
  MemoryByClass memory;
  std::optional<std::uint64_t> python_blocks;  ///< nullopt: no Python
  std::optional<TrackedObjects> objects;
  std::optional<TracedLines> lines;
};

/// `first` may be missing: then nothing grew, and what is there stands largest first.
Attribution compare_looks(const std::optional<AttributionLook>& first, const AttributionLook& last);

}  // namespace tracso
