#pragma once
// The table of what each source owns.

#include "tracso/answers.hpp"

#include <span>
#include <vector>

namespace tracso {

/// By ranking bytes, then name; "(unattributed / system)" last, absent if it owns no library, as is
/// every other source that owns none. `libraries` are counted ones, `owners` is per node.
std::vector<Package> packages_of(const Graph& graph,
                                 std::span<const NodeId> libraries,
                                 const std::vector<std::vector<NodeId>>& owners,
                                 ByteKind by);

}  // namespace tracso
