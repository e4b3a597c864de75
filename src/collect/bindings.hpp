#pragma once
// To which library each imported function is bound: slots of the GOT, read from memory, against
// what the files promise.

#include "tracso/problem_facts.hpp"

#include "collect/workspace.hpp"

namespace tracso {

/// Fills bindings, uses and runtimes as `wanted` asks; what could not be read is a notice. Edges
/// must be complete.
void collect_bindings(Workspace& work, const FactsOptions& wanted, ProblemFacts& facts);

}  // namespace tracso
