#pragma once
// Which memory is CPython's own allocator's (Objects/obmalloc.c), told by the headers of its pools.

#include "tracso/target.hpp"

#include <cstdint>
#include <span>

namespace tracso::python {

/// The head of a pool as CPython 3.8 to 3.14 writes it (struct pool_header, 64 bit, 48 bytes) at an
/// address that is a multiple of `pool_bytes`: 4096 up to 3.9, 16384 since 3.10.
bool is_pool_header(std::span<const std::byte> bytes,
                    std::uint64_t address,
                    std::uint64_t pool_bytes);

/// Bytes of pools in [start, end), anonymous memory of a 64-bit CPython; 0: none, or not readable.
/// Pools that were never used do not count. Free-threaded builds have no pools. Reads 48 bytes for
/// each 16 KB; looks at 4 GB at most.
std::uint64_t pool_bytes_in(const ProcessSource& process, std::uint64_t start, std::uint64_t end);

}  // namespace tracso::python
