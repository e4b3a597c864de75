#pragma once
// What the agent of a process could not do, as notices.

#include "tracso/calls.hpp"

#include "calls/region.hpp"

#include <cstddef>

namespace tracso::calls {

/// Adds those of one process, whose rows in the report begin with `first_row`. `follow`: its
/// children are traced too.
void add_region_notices(const Region& region,
                        std::size_t first_row,
                        bool follow,
                        CallsReport& into);

}  // namespace tracso::calls
