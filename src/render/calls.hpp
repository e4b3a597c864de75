#pragma once
// The answer of tracso calls: a table for people, a document, rows for a spreadsheet.

#include "tracso/calls.hpp"
#include "tracso/renderer.hpp"

#include <string>

namespace tracso {

/// ltrace -c's columns and ours; `limit` rows, 0: all.
std::string calls_text(const RenderOptions& options, const CallsReport& report, std::size_t limit);
/// {"schema", "kind": "calls", ...}; docs/json.md.
std::string calls_json(const CallsReport& report);
/// Graphviz text: who calls whom, the heaviest `limit` edges (0: all).
std::string calls_dot(const RenderOptions& options, const CallsReport& report, std::size_t limit);
/// One line per row and a head line; RFC 4180.
std::string calls_csv(const CallsReport& report);

}  // namespace tracso
