#pragma once
// Options of tracso calls that do not go together: said, with what can be had instead, before
// anything is started.

#include "cli/calls_options.hpp"

#include <optional>

namespace tracso {

/// An option of lines that a table would silently ignore.
std::optional<Leave> refused_for_tables(const CallsWords& words);

/// An option of lines that lines of JSON would silently ignore.
std::optional<Leave> refused_for_records(const CallsWords& words);

/// What only makes sense with a process that runs already, or only with a command.
std::optional<Leave> refused_for_processes(const CallsWords& words, bool has_command);

/// What only an agent does, and what only the engine does.
std::optional<Leave> refused_by_engine(const CallsWords& words);

/// Something is asked for that only the engine can show.
bool is_seen_from_outside(const CallsWords& words);

}  // namespace tracso
