#pragma once
// tracso calls, from outside: the command under ptrace(2) instead of with an agent inside.

#include "commands/calls_command.hpp"
#include "launch/spawn.hpp"

namespace tracso {

/// As calls_of_command.
int calls_by_engine(const CallsRequest& request);

/// CMD's own, as a shell tells it.
int calls_status(const CallsReport& report);

/// A document on the standard output drives the command's own away from there.
launch::CommandOutputTo output_of_command(const CallsRequest& request);

/// Says why a command could not be started; the status as of a shell.
int fail_to_start(const Error& error);

}  // namespace tracso
