#pragma once
// What the rules about duplicates share, and the part of dup-library that looks into files.

#include "findings/evidence.hpp"

#include <vector>

namespace tracso::findings {

/// Libraries of which one copy at least is linked into another file.
std::vector<Finding> duplicates_inside(const Evidence& evidence);

/// Whether `from` itself has `to` loaded.
bool needs(const Graph& graph, NodeId from, NodeId to);

}  // namespace tracso::findings
