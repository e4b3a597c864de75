#pragma once
// One walk along the lists of the garbage collector of one interpreter.

#include "python/block_reader.hpp"
#include "python/layouts.hpp"

#include <cstdint>
#include <optional>
#include <unordered_map>

namespace tracso::python {

/// Objects of a type, by its address.
struct TypeSum {
  std::uint64_t objects = 0, bytes = 0;
};

using TypeSums = std::unordered_map<std::uint64_t, TypeSum>;

enum class WalkState : std::uint8_t {
  whole,           ///< every list was followed to its end, and no collection came between
  youngest_moved,  ///< but for that of the youngest
  moved            ///< a list changed while it was followed, or there is no such list there
};

/// Where the collector's state (struct _gc_runtime_state) lies; nullopt: the version keeps no lists
/// (free-threaded), or tracso does not know where.
std::optional<std::uint64_t> gc_state_address(BlockReader& memory,
                                              const Layout& layout,
                                              std::uint64_t runtime,
                                              std::uint64_t interpreter);

/// Adds all objects of the three generations and of gc.freeze() to the sums.
WalkState walk_gc_lists(BlockReader& memory,
                        const Layout& layout,
                        std::uint64_t gc_state,
                        TypeSums& into);

}  // namespace tracso::python
