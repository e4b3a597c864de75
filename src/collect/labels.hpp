#pragma once
// By which rule of the loader each edge got its file: the resolver asked about what the records
// say.

#include "collect/start_facts.hpp"
#include "collect/workspace.hpp"

namespace tracso {

/// Gives needed, preload and dlopen edges their rule and the search behind it; says where a restart
/// would load another file, and which edges hold only because something was loaded before.
void label_edges(Workspace& work, const StartFacts& start);

}  // namespace tracso
