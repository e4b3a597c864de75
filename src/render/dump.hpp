#pragma once
// A look at the threads of a process, for people and as a document.

#include "tracso/dump.hpp"
#include "tracso/renderer.hpp"

#include <string>

namespace tracso {

/// One paragraph per thread; deadlocks first.
std::string dump_text(const RenderOptions& options, const Dump& dump);
/// {"schema", "kind": "dump", ...}; docs/json.md. `indented` as other documents, else one line.
std::string dump_json(const Dump& dump, bool indented);

}  // namespace tracso
