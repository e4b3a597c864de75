#pragma once
// Who may have called dlopen: the loader does not keep it, but the caller usually holds the path as
// a text.

#include "collect/workspace.hpp"

namespace tracso {

/// For each library that an unknown caller dlopened: names the mapped object in whose file its path
/// (or name) stands as a text. An inference, and said as one. Reads whole files, at most 256 MB, so
/// only --why asks for it.
void add_dlopen_hints(Workspace& work);

}  // namespace tracso
