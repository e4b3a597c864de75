#pragma once
// tracso diff.

#include "commands/stat_request.hpp"

namespace tracso {

/// 0, also where there are differences; 1 where a gate fails.
int diff(const DiffRequest& request);

}  // namespace tracso
