#pragma once
// What --run saw of the loader becomes part of the trace: the order of loading, who asked, the
// imports behind it, and what came and went again.

#include "tracso/trace.hpp"

#include "launch/run.hpp"

#include <span>

namespace tracso {

/// Fills trace.loads and failed_loads. A library whose dlopen caller is now known hangs on that
/// caller instead of the root, and edges get the import that was seen as their importer. An object
/// that is not there any more becomes a node with loaded = false, which counts nowhere.
void add_loads(Trace& trace,
               std::span<const launch::LoadRecord> loads,
               std::span<const launch::FailedLoad> failed);

}  // namespace tracso
