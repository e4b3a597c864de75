#pragma once
// A usage error in the form that all options share, and what options of several commands need.

#include "cli/cli11_names.hpp"
#include "cli/options.hpp"
#include "commands/stat_request.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

namespace tracso {

/// Headline of the help, of the report and of commands.
inline constexpr const char* what_to_print = "What to print";

/// Exit status 2: "tracso: <what>", "hint: <hint>".
Leave usage_error(const std::string& what, const std::string& hint);

/// A PID as `ps` prints it.
std::variant<std::int32_t, Leave> pid_word(const std::string& text);

/// "2", "0.5": seconds, more than 0 and at most 1e7; nullopt: it is none, or empty.
std::optional<std::chrono::milliseconds> seconds_word(const std::string& text);

/// --json --color -o --limit of a subcommand.
struct AnswerWords {
  bool json = false;
  std::string output, color = "auto";
  std::optional<std::size_t> limit;
};

/// Those options; `group` is their headline in the help.
void add_answer_options(CLI::App& app, AnswerWords& words, const std::string& group = "Options");

AnswerOutput answer_output(const AnswerWords& words);

}  // namespace tracso
