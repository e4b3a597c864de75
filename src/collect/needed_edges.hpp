#pragma once
// Who needs whom: from the loader's records where they are readable, else by soname.

#include "collect/workspace.hpp"

namespace tracso {

/// Adds interpreter, needed, filter and auxiliary edges between objects, and missing nodes for what
/// nobody satisfies. Marks the edge that caused the load.
void add_needed_edges(Workspace& work);

/// Objects that nothing else explains hang on the root: dlopened by an unknown caller, by libc for
/// NSS or gconv, mapped by other means. Call it after sources and needed edges.
void add_root_edges(Workspace& work);

/// Marks the executable's own closure.
void mark_baseline(Graph& graph);

}  // namespace tracso
