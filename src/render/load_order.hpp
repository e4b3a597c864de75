#pragma once
// What --run saw of the loader, as sections of text below the tree.

#include "tracso/renderer.hpp"

#include <string>

namespace tracso {

/// "Load order", "Import cost" and "Refused by the loader", each only if there is anything to say.
std::string load_sections(const RenderOptions& options, const Trace& trace, const Summary& summary);

/// Only "Refused by the loader".
std::string refused_section(const RenderOptions& options,
                            const Trace& trace,
                            const Summary& summary);

}  // namespace tracso
