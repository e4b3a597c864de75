#pragma once
// Which line does an instruction of Python code belong to? The tables of code objects say it, in a
// form that CPython has changed twice. Pure: bytes in, line out.

#include <cstddef>
#include <cstdint>
#include <span>

namespace tracso::python {

/// The 1-based line of the instruction at `offset` bytes from the first one; 0: it has none, or the
/// table says nothing sensible. `table` is co_lnotab until 3.9 (Objects/lnotab_notes.txt), since
/// 3.10 co_linetable (PEP 626; since 3.11 Objects/locations.md, later InternalDocs), `first_line`
/// co_firstlineno. An offset before the first instruction is that of code which has not begun: its
/// first line.
std::uint32_t line_of_instruction(std::uint32_t minor,
                                  std::span<const std::byte> table,
                                  std::uint32_t first_line,
                                  std::int64_t offset);

}  // namespace tracso::python
