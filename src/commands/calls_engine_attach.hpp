#pragma once
// tracso calls -S -p: the system calls of a process that runs already.

#include "commands/calls_command.hpp"

namespace tracso {

/// Of the only one of `request.processes`, until it has ended, we are asked to end, or
/// `request.seconds` have passed. 0; 3: no such process; 4: it may not be traced.
int system_calls_of_process(const CallsRequest& request);

}  // namespace tracso
