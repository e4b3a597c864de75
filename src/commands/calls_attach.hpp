#pragma once
// tracso calls -p: the calls of processes that run already.

#include "commands/calls_command.hpp"

namespace tracso {

/// Until they have ended, we are asked to end (Ctrl-C), or `request.seconds` have passed. 0; 3: no
/// such process; 4: one of them cannot be attached to: then none is.
int calls_of_processes(const CallsRequest& request);

}  // namespace tracso
