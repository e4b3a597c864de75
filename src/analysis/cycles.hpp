#pragma once
// Which needed edges close a cycle: a.so needs b.so needs a.so.

#include "tracso/graph.hpp"

#include <vector>

namespace tracso {

/// Per edge of the graph: true where a walk over needed, filter and auxiliary edges, begun at what
/// nobody needs, comes back to an object it stands in. Without those edges the walk has no cycle.
/// An object that needs itself is one.
std::vector<bool> closing_edges(const Graph& graph);

}  // namespace tracso
