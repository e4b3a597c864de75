#pragma once
// What a document calls its nodes.

#include "tracso/graph.hpp"

#include <string>
#include <vector>

namespace tracso {

/// Per node: its name as UTF-8, or where several share it the name with the shortest piece of the
/// path that tells them apart: "_core.so (alpha/_core.so)". Among such nodes those that are no
/// objects keep the bare name, a missing one is "name (missing)", and where nothing else differs
/// "#2" and so on is appended in the order of the graph. No two are equal.
std::vector<std::string> unique_ids(const Graph& graph);

}  // namespace tracso
