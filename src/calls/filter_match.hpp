#pragma once
// Filters applied here; inside a traced process the agent does the same (agent/filter.c).

#include "tracso/calls.hpp"

#include "calls/filter.hpp"

#include <span>
#include <string_view>

namespace tracso::calls {

/// A library in the eyes of a filter.
struct FilterParty {
  std::string_view path;
  bool program = false;  ///< MAIN
};

/// Is the call of `symbol` from one library to another asked for?
bool selects(const Filter& filter,
             std::string_view symbol,
             const FilterParty& caller,
             const FilterParty& callee);

/// May some call from that library be asked for?
bool may_select(const Filter& filter, const FilterParty& caller);

/// Adds a notice for each pattern of libraries that fits none of the report's objects, with one
/// that would where a star is missing. Not for patterns that leave calls out, nor where nothing was
/// seen.
void add_unfit_libraries(const Filter& filter, CallsReport& report);

}  // namespace tracso::calls
