#pragma once
// LD_PRELOAD, LD_AUDIT, /etc/ld.so.preload and the loader's own options become sources of what they
// brought in.

#include "collect/workspace.hpp"
#include "loader/environment.hpp"

namespace tracso {

/// Adds the origins, and a missing node for every name that was asked for and is not there.
void add_preloads(Workspace& work, const loader::LoadEnvironment& environment);

}  // namespace tracso
