#pragma once
// An option that is none, and what was probably meant.

#include "cli/leave.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tracso {

/// `command`: "" for the program itself. `word`: as typed, "--name=value" too. `names`: what the
/// command has. Status 2; the hint tells how it is said here where other tools say it so ("-p
/// PID"), else the names that are close.
Leave unknown_option(std::string_view command,
                     const std::string& word,
                     const std::vector<std::string>& names);

/// The first of `ours` that looks like an option and is none of `known`, told as above with `names`
/// as those that may be close. nullopt: there is none.
std::optional<Leave> unknown_among(std::string_view command,
                                   const std::vector<std::string>& ours,
                                   const std::vector<std::string>& known,
                                   const std::vector<std::string>& names);

}  // namespace tracso
