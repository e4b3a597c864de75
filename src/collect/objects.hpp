#pragma once
// Mapped objects and the loader's records become nodes of the graph.

#include "collect/workspace.hpp"

namespace tracso {

/// Reads the link maps and the mapped objects, and says what could not be read.
void collect_objects(Workspace& work);

/// Adds the root, the program, the loader and every library, in load order where that is known.
/// Beyond this point no new mapped object is added.
void add_object_nodes(Workspace& work);

}  // namespace tracso
