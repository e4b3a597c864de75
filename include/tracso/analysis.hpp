#pragma once
// Questions to a trace. Pure functions: no door, no clock.

#include "tracso/answers.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tracso {

/// The same trace with its Python sources cut at `depth` name components (0: full names). Cutting
/// further is always possible; a trace that was cut already cannot be made finer, then it stays as
/// it is.
Trace group_modules(const Trace& trace, std::size_t depth);

/// Owners, totals, tables, notable sentences. Shares of a library are integers that sum to its
/// bytes.
Summary summarize(const Trace& trace, ByteKind by);

/// Every chain from a source to each library that `query` (a path, a soname or file name, a prefix
/// of one) names.
WhyAnswer explain_why(const Trace& trace,
                      const Summary& summary,
                      std::string_view query,
                      std::size_t depth);

}  // namespace tracso
