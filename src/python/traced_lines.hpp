#pragma once
// What a program's own tracemalloc knows of who allocated what, read from its memory: the table of
// Modules/_tracemalloc.c (Python/tracemalloc.c since 3.13).

#include "tracso/python_memory.hpp"
#include "tracso/python_probe.hpp"

namespace tracso::python {

/// Blocks by the line that allocated them (the innermost that is kept), by file and line. Errors:
/// not_found (no Python, or tracemalloc does not run in it), unsupported (its table is not to be
/// found: an interpreter before 3.12 without symbol table, a version that tracso does not know),
/// interrupted (it changed while it was read, or is too large), denied.
Result<TracedLines> read_traced_lines(const ProbeInput& input);

}  // namespace tracso::python
