#pragma once
// Functions of which it is not known into which library their calls go: the loader binds them at
// the first call, and that did not come back yet, or never. The agent lets them pass each filter,
// for when it sees them bound it asks again; of what was counted until then nobody knows whether it
// was asked for.

#include "calls/filter.hpp"
#include "calls/region.hpp"

#include <cstddef>

namespace tracso::calls {

/// Is the callee of that slot unknown, and does it matter: are calls into certain libraries asked
/// for? Such calls are not told.
bool is_unknown_and_unwanted(const Region& region, std::size_t slot, const Filter& filter);

}  // namespace tracso::calls
