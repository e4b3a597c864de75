#pragma once
// Which memory glibc's malloc has made for threads (malloc/arena.c, new_heap), of 64-bit processes.

#include "tracso/mapping.hpp"
#include "tracso/target.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace tracso {

constexpr std::size_t heap_info_bytes = 32;  ///< what matters of glibc's struct _heap_info

/// Whether these are the first bytes of a heap of an arena, at an address that is a multiple of 64
/// MB.
bool is_heap_info(std::span<const std::byte> bytes, std::uint64_t address);

/// Whether that mapping is such a heap, by its place, by what lies behind it (`next`, null:
/// nothing) and by its first bytes. Where these cannot be read (a recording of an older version)
/// the place has to do.
bool is_malloc_arena(const ProcessSource& process, const Mapping& mapping, const Mapping* next);

}  // namespace tracso
