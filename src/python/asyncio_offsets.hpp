#pragma once
// Where asyncio keeps its tasks since 3.14: in linked lists, whose places the module _asyncio tells
// itself (Py_AsyncioModuleDebugOffsets of Modules/_asynciomodule.c, in the section .AsyncioDebug).

#include "tracso/python_probe.hpp"

#include "python/memory_reader.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace tracso::python {

/// Bytes from the start of each structure.
struct AsyncioOffsets {
  std::uint64_t node = 0;              ///< of TaskObj: the link of its list
  std::uint64_t interpreter_list = 0;  ///< of PyInterpreterState: tasks of threads that have ended
  std::uint64_t thread_list = 0;       ///< of PyThreadState
  bool operator==(const AsyncioOffsets&) const = default;
};

constexpr std::size_t asyncio_offsets_words = 13;

/// From the words of that section; nullopt: they are absurd.
std::optional<AsyncioOffsets> asyncio_offsets(
    std::span<const std::uint64_t, asyncio_offsets_words> words);

/// Looks for the section in the file of the module, or where that is built in of the interpreter,
/// whose ELF header is mapped at `interpreter`.
/// nullopt: not loaded, no such section or one of another shape (before 3.14), file not readable.
std::optional<AsyncioOffsets> find_asyncio_offsets(const ProbeInput& input,
                                                   MemoryReader& memory,
                                                   std::uint64_t interpreter);

}  // namespace tracso::python
