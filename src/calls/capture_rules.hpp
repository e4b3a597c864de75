#pragma once
// What has to be copied of the memory that arguments and results lead to, in the form that the
// agent follows (agent/shared_layout.h).

#include "calls/prototypes.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace tracso::calls {

/// Plans what lies behind pointers in structures and arrays: `most` elements of an array, and so
/// deep. A function has a dozen of such pointers; the others are shown as `...`.
void plan_nodes(Prototype& prototype, std::size_t most);

/// The name by which the agent finds a rule: of a long one its beginning and a hash of all of it.
std::string capture_key(std::string_view name);
tracso_capture_rule capture_rule(std::string_view name, const Prototype& prototype);
/// Nothing is copied.
bool is_empty(const tracso_capture_rule& rule);

}  // namespace tracso::calls
