#pragma once
// Where a drawing of a graph starts.

#include "tracso/graph.hpp"

#include <vector>

namespace tracso {

/// The fewest nodes from which every node can be reached: the target's label first, then the
/// sources, then the rest in their order; of a cycle that nothing leads to, its first node.
std::vector<NodeId> beginnings(const Graph& graph);

}  // namespace tracso
