#pragma once
// `tracso stat`, `fds`, `diff` and `watch`: commands with options of their own.

#include "cli/cli11_names.hpp"
#include "cli/diff_options.hpp"
#include "cli/leave.hpp"
#include "cli/stat_options.hpp"

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace tracso {

struct CostWords {
  StatWords stat;
  FdsWords fds;
  DiffWords diff;
  WatchWords watch;
};

/// The commands with all their options: for the help, for completions, and for parsing.
void add_cost_commands(CLI::App& app, CostWords& words);

/// The words behind the program's name; nullopt: the first of them is none of these commands.
std::optional<std::variant<CostRequest, Leave>> parse_cost_options(
    const std::vector<std::string>& words);

}  // namespace tracso
