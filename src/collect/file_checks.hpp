#pragma once
// Why a file would not load: what is missing, in words, with what would help.

#include "tracso/target.hpp"
#include "tracso/trace.hpp"

namespace tracso {

/// Checks a resolved file as the loader would before it runs: needed files, symbol versions, what
/// makes the loader stop. Marks the edges (Edge::fatal) and adds a notice each.
void check_file(const Target& target, Trace& trace);

}  // namespace tracso
