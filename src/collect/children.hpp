#pragma once
// Child processes: one line each, or, with --children, part of the graph.

#include "collect/workspace.hpp"

#include <cstddef>

namespace tracso {

/// No process is asked for more than these.
constexpr std::size_t most_descendants = 10'000;

/// Lists all descendants; with SnapshotOptions::children their libraries join the graph, each file
/// once.
void collect_children(Workspace& work);

/// A child that was looked at by itself, at its end, joins the graph. Files that are there already
/// keep their bytes: the child does not run at the same moment.
void join_ended_child(Trace& trace, const Trace& child);

}  // namespace tracso
