#pragma once
// What holds of the memory of every process on a 64-bit Linux.

#include <cstdint>

namespace tracso::python {

/// The smallest page there is.
constexpr std::uint64_t page_bytes = 4096;
/// No user memory lies above.
constexpr std::uint64_t highest_address = std::uint64_t{1} << 56U;

}  // namespace tracso::python
