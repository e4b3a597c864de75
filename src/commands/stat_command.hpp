#pragma once
// tracso stat.

#include "commands/stat_request.hpp"

namespace tracso {

/// Prints the answer; the exit status of the command, 1 where that is 0 and a budget failed.
int stat(const StatRequest& request);

}  // namespace tracso
