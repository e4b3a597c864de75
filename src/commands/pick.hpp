#pragma once
// --pick: the process is chosen on a terminal.

#include "commands/request.hpp"

#include <string>
#include <variant>

namespace tracso {

/// The process that was chosen, or the exit status (with its message said): 130 none was, 2 there
/// is no terminal.
std::variant<PidSource, int> pick_process(const PickSource& pick, const TraceRequest& request);

/// TERM; empty: there is none.
std::string terminal_name();

}  // namespace tracso
