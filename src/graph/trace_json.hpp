#pragma once
// Reads back the document that --json prints (docs/json.md), for --from, diff and the last trace;
// and writes the short form of it that the last trace is kept in.

#include "tracso/result.hpp"
#include "tracso/trace.hpp"

#include <string>
#include <string_view>

namespace tracso {

/// A document of schema "tracso/1", kind "trace". What analysis computes (totals, packages,
/// degrees, sources) is not read: it is computed again. `name` is the file, for the Error:
/// malformed, with what is wrong and where in the document.
Result<Trace> read_trace_json(std::string_view text, std::string_view name);

/// A document that reads back as the same trace, and holds nothing else: what analysis computes and
/// what reads as nothing is left out, nodes are named by numbers. Every look writes one, so it
/// costs a tenth of what the renderer's takes.
std::string write_trace_json(const Trace& trace);

}  // namespace tracso
