#pragma once
// Where a Python has memory of its own.

#include <cstdint>
#include <map>

namespace tracso {

/// Bytes of pools of CPython's own allocator, by the start of the mapping they lie in.
using PoolsByMapping = std::map<std::uint64_t, std::uint64_t>;

}  // namespace tracso
