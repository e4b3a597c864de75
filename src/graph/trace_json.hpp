#pragma once
// Reads back the document that --json prints (docs/json.md), for --from, diff and the last trace.

#include "tracso/result.hpp"
#include "tracso/trace.hpp"

#include <string_view>

namespace tracso {

/// A document of schema "tracso/1", kind "trace". What analysis computes (totals, packages,
/// degrees, sources) is not read: it is computed again. `name` is the file, for the Error:
/// malformed, with what is wrong and where in the document.
Result<Trace> read_trace_json(std::string_view text, std::string_view name);

}  // namespace tracso
