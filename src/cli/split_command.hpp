#pragma once
// Where our options end and the command's words begin.

#include "cli/cli11_names.hpp"

#include <string>
#include <vector>

namespace tracso {

/// Of `tracso COMMAND [options] CMD ...`: moves CMD and all behind it from `words` to `command`.
/// Our options end at "--" or at the first word that is neither an option of the subcommand nor an
/// option's value. true: "--" stood between them, so that nothing behind it was meant to be ours.
bool split_command(const CLI::App& subcommand,
                   std::vector<std::string>& words,
                   std::vector<std::string>& command);

}  // namespace tracso
