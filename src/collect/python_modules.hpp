#pragma once
// Python's modules become sources of the libraries that they are.

#include "collect/workspace.hpp"

namespace tracso {

/// Asks the probe and adds a PythonSource per extension module (full name) with an edge to its
/// file; if the options ask for them, also its distribution and who imported it. Does nothing where
/// no probe is given or the target is no Python. Beyond this point no new source is added.
void collect_python_modules(Workspace& work);

}  // namespace tracso
