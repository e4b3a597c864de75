#pragma once
// tracso watch.

#include "commands/stat_request.hpp"

namespace tracso {

/// Follows a process until it ends, the time is over, or somebody presses q; 3 where it ended by
/// itself before the time was over.
int watch(const WatchRequest& request);

}  // namespace tracso
