#pragma once
// What each mapping of a process is for.

#include "tracso/python_pools.hpp"
#include "tracso/resources.hpp"
#include "tracso/target.hpp"

#include "proc/smaps.hpp"

#include <cstdint>
#include <optional>
#include <span>

namespace tracso {

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
