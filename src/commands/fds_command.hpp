#pragma once
// tracso fds.

#include "commands/stat_request.hpp"

namespace tracso {

int fds(const FdsRequest& request);

}  // namespace tracso
