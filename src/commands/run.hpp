#pragma once
// --run: start the command, look at it at its last whole moment.

#include "commands/sources.hpp"

namespace tracso {

/// The trace of what the command became, with its status. `command_status` is set to 126 or 127
/// where it could not be started, to 130 where a second Ctrl-C ended our looking.
Result<Trace> run_and_look(const RunSource& run,
                           const TraceRequest& request,
                           const LookOptions& look,
                           ProblemFacts& facts,
                           std::optional<int>& command_status);

}  // namespace tracso
