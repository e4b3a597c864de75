#pragma once
// What is needed and not there, as a section of the report.

#include "tracso/renderer.hpp"

#include <string>

namespace tracso {

/// "Not found": each missing library, who needs it and where it was looked for; empty if all are
/// there.
std::string not_found_section(const RenderOptions& options, const Trace& trace);

}  // namespace tracso
