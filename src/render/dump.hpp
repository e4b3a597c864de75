#pragma once
// A look at the threads of a process, for people and as a document.

#include "tracso/dump.hpp"
#include "tracso/renderer.hpp"

#include <cstdint>
#include <string>

namespace tracso {

/// How names of native functions are written.
enum class Names : std::uint8_t { as_they_are, demangled };

/// One paragraph per thread; deadlocks first.
std::string dump_text(const RenderOptions& options, const Dump& dump, Names names);
/// {"schema", "kind": "dump", ...}; docs/json.md. `indented` as other documents, else one line.
std::string dump_json(const Dump& dump, bool indented);

}  // namespace tracso
