#pragma once
// What each mapping of a process is for.

#include "tracso/python_pools.hpp"
#include "tracso/resources.hpp"
#include "tracso/target.hpp"

#include "proc/smaps.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

namespace tracso {

/// The bytes of one mapping.
MemoryUse memory_use(const proc::MappingCost& cost);

/// The class of mappings[at], which belongs to no ELF file. Anonymous memory is told by what lies
/// around it: glibc's arenas begin at multiples of 64 MB and end in reserved memory, a thread's
/// stack lies behind a guard page.
MemoryClass class_of(std::span<const proc::MappingCost> mappings, std::size_t at);

/// Whether mappings[at] is an arena that glibc's malloc made for threads, of 64-bit processes.
bool is_malloc_arena(std::span<const proc::MappingCost> mappings, std::size_t at);

/// Adds that mapping's bytes, or the rest of them that `use` says. `python_bytes` tells how much of
/// an anonymous mapping is pymalloc's; empty: the process is no Python.
void add_by_class(MemoryByClass& classes,
                  std::span<const proc::MappingCost> mappings,
                  std::size_t at,
                  const MemoryUse& use,
                  const std::function<std::uint64_t(const Mapping&)>& python_bytes);

/// The classes of a process by its smaps alone, for who looks often: a file with executable pages
/// is a library, its .bss counts as other. `is_python` says that a libpython or python is mapped.
struct QuickClasses {
  MemoryByClass memory;
  bool is_python = false;
  std::uint64_t python_blocks = 0;  ///< of the pools of class python: bytes that hold something
  PoolsByMapping pools;             ///< of class python, those that are none left out
};

/// Reads the heads of pools in anonymous memory if it is a Python, unless they are known already.
QuickClasses classify_memory(const ProcessSource& process,
                             std::span<const proc::MappingCost> mappings,
                             const std::optional<PoolsByMapping>& known = std::nullopt);

/// Errors: those of reading or parsing smaps.
Result<QuickClasses> quick_memory_classes(const ProcessSource& process);

}  // namespace tracso
