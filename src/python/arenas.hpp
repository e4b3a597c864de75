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

struct PoolUse {
  std::uint64_t pools = 0;   ///< bytes of pools; those that were never used do not count
  std::uint64_t blocks = 0;  ///< bytes of the blocks in them that hold something
};

/// The pools in [start, end), anonymous memory of a 64-bit CPython; zeros: none, or not readable.
/// Free-threaded builds have no pools. Reads 48 bytes for each 16 KB (4 KB, where none of 16 are),
/// only in pages that are there (pagemap, where it can be read); looks at 4 GB at most.
PoolUse pools_in(const ProcessSource& process, std::uint64_t start, std::uint64_t end);

}  // namespace tracso::python
