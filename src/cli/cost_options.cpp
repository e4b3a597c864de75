#include "cli/cost_options.hpp"

#include "base/text.hpp"
#include "cli/definition.hpp"
#include "cli/help_formatter.hpp"
#include "cli/output_forms.hpp"
#include "cli/slips.hpp"
#include "cli/split_command.hpp"
#include "cli/terminal.hpp"
#include "cli/unknown_option.hpp"
#include "cli/values.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>

namespace tracso {
namespace {

using Parsed = std::variant<CostRequest, Leave>;

// "tracso stat sleep 1 --max-rss 10M": a word of CMD that was perhaps meant for us. Words that many
// programs have are none.
std::string stray_option(const CLI::App& command, const std::vector<std::string>& words) {
  constexpr std::array<std::string_view, 7> usual{
      "--json", "--help", "--verbose", "--output", "--color", "--limit", "--pid"};
  const auto names = option_names(command);
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string name = words[i].substr(0, words[i].find('='));
    if (name.starts_with("--") && std::find(names.begin(), names.end(), name) != names.end() &&
        std::find(usual.begin(), usual.end(), name) == usual.end()) {
      return name;
    }
  }
  return "";
}

Leave parse_error(const CLI::App& command,
                  const CLI::ParseError& error,
                  const std::vector<std::string>& ours) {
  if (auto leave = empty_word(command)) {
    return *std::move(leave);
  }
  const auto names = option_names(command);
  const auto unknown = error.get_name() == "ValidationError"  // "--limit -1": a value, no option
                           ? std::nullopt
                           : unknown_among(command.get_name(), ours, names, names);
  return unknown ? *unknown : wrong_use(command, error, ours);
}

Parsed request_of(const std::string& command, const CostWords& words) {
  return command == "stat"   ? stat_request(words.stat)
         : command == "fds"  ? fds_request(words.fds)
         : command == "diff" ? diff_request(words.diff)
                             : watch_request(words.watch);
}

// Before the rest of the words is judged: of two slips either may be told first.
std::optional<Leave> wrong_answer_form(const std::string& command, const CostWords& words) {
  const AnswerWords& answer = command == "stat"   ? words.stat.answer
                              : command == "fds"  ? words.fds.answer
                              : command == "diff" ? words.diff.answer
                                                  : words.watch.answer;
  if (command == "watch") {  // always lines of JSON; and what it may name besides files
    const bool place = answer.output.starts_with("tcp:") || answer.output.starts_with("unix:");
    return place ? std::nullopt : wrong_form(command, answer.output);
  }
  return wrong_form(answer.json                         ? "--json"
                    : command == "fds" && words.fds.csv ? "--csv"
                                                        : command,
                    answer.output);
}

}  // namespace

void add_cost_commands(CLI::App& app, CostWords& words) {
  add_stat(app, words.stat);
  add_fds(app, words.fds);
  add_diff(app, words.diff);
  add_watch(app, words.watch);
}

std::optional<Parsed> parse_cost_options(const std::vector<std::string>& all) {
  constexpr std::array<std::string_view, 4> commands{"stat", "fds", "diff", "watch"};
  if (all.empty() || std::find(commands.begin(), commands.end(), all.front()) == commands.end()) {
    return std::nullopt;
  }
  CostWords words;
  CLI::App app("", "tracso");
  app.set_help_flag("-h,--help", "this text");
  app.formatter(std::make_shared<HelpFormatter>(look_at_terminal(ColorChoice::automatic).width));
  add_cost_commands(app, words);
  std::vector<std::string> ours = all;
  const CLI::App& command = *app.get_subcommand(all.front());
  if (all.front() == "stat") {
    const bool separated = split_command(command, ours, words.stat.command);
    words.stat.stray = separated ? "" : stray_option(command, words.stat.command);
  }
  if (auto leave = empty_behind_sign(ours, option_names(command))) {
    return *std::move(leave);
  }
  try {
    app.parse(std::vector<std::string>(ours.rbegin(), ours.rend()));
  } catch (const CLI::CallForHelp&) {
    return Leave{0, command.help(), ""};
  } catch (const CLI::ParseError& error) {
    return parse_error(command, error, ours);
  }
  if (auto leave = empty_word(app)) {
    return *leave;
  }
  if (!words.stat.command.empty() && words.stat.command.front().empty()) {
    return usage_error("CMD is empty", "is a variable of the shell not set?");
  }
  if (auto leave = wrong_answer_form(all.front(), words)) {
    return *leave;
  }
  return request_of(all.front(), words);
}

}  // namespace tracso
