#pragma once
// Files that the loader did not find for a dlopen: who needs each, and where it was looked for.

#include "collect/requesters.hpp"
#include "collect/workspace.hpp"
#include "loader/search.hpp"

namespace tracso {

/// Answers SnapshotOptions::refused in trace.failed_loads, one each in the same order, by the rules
/// of the loader as they are now. Of what they do not explain the evidence stays empty.
void explain_refused(Workspace& work, const Requesters& requesters, loader::Searcher& searcher);

}  // namespace tracso
