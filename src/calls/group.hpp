#pragma once
// Sums the rows of a report.

#include "tracso/calls.hpp"

namespace tracso::calls {

/// One row per what the group names, most self time first; where nothing was timed, most calls.
void group_rows(CallsReport& report, CallGroup group);

}  // namespace tracso::calls
