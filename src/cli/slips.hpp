#pragma once
// Slips of the keyboard, and what was probably meant.

#include "cli/cli11_names.hpp"
#include "cli/definition.hpp"
#include "cli/options.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tracso {

/// Status 2 with both lines.
Leave usage(const std::string& what, const std::string& hint);

/// --run ends our options: the words behind it are CMD's, and CLI11 must not see them.
void split_run(const std::vector<std::string>& words, std::vector<std::string>& ours, Words& into);

/// An option of ours behind --run, where it would be the command to run.
std::optional<Leave> misplaced_option(const CLI::App& app, const Words& words);

/// Behind CMD options belong to CMD: where they look like ours, and ours were left out, it is said.
/// Empty: nothing to say.
std::string swallowed_options(const CLI::App& app, const Words& words);

/// An option of the program or of the command that was given whose value is empty.
std::optional<Leave> empty_word(const CLI::App& app);

/// Options of the program, or a TARGET, before a command that has no use for them.
std::optional<Leave> stray_before_command(const CLI::App& app);

/// What stands beside --explain, which looks at nothing.
std::optional<Leave> beside_explain(const CLI::App& app, const Words& words);

/// A lone word that is no file here, but nearly a command: "recrod".
std::optional<Leave> mistaken_command(const CLI::App& app, const Words& words);

/// What CLI11 did not understand, with the option or command that is close.
Leave explain_parse_error(const CLI::App& app,
                          const CLI::ParseError& error,
                          const std::vector<std::string>& ours);

}  // namespace tracso
