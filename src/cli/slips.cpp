#include "cli/slips.hpp"

#include "base/text.hpp"
#include "cli/unknown_option.hpp"
#include "cli/values.hpp"
#include "commands/command_path.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>

namespace tracso {
namespace {

std::string before_equal(const std::string& word) {
  return word.substr(0, word.find('='));
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (!command->get_group().empty()) {
      names.push_back(command->get_name());
    }
  }
  return names;
}

// Names that many programs have: behind --run they are most likely meant for CMD.
bool is_common_name(const std::string& name) {
  static constexpr std::array<std::string_view, 10> common{"--help",
                                                           "--version",
                                                           "--verbose",
                                                           "--output",
                                                           "--color",
                                                           "--timeout",
                                                           "--root",
                                                           "--from",
                                                           "--limit",
                                                           "--run"};
  return !name.starts_with("--") || std::find(common.begin(), common.end(), name) != common.end();
}

// As a shell reads it back.
std::string shell_word(const std::string& word) {
  const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("%+,-./:=@_").find(static_cast<char>(c)) != std::string_view::npos;
  });
  std::string quoted;
  for (const char c : word) {
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return plain ? word : "'" + printable(quoted) + "'";
}

bool is_program_in_path(const std::string& word) {
  return !word.empty() && word.find('/') == std::string::npos &&
         ::access(word.c_str(), F_OK) != 0 && !find_program(word).empty();
}

// "tracso python3 -c 1", "tracso run python3 -c 1": a command where --run is missing; empty: none.
std::string with_run(const CLI::App& app, const std::vector<std::string>& ours) {
  const auto first = std::find_if(
      ours.begin(), ours.end(), [](const std::string& word) { return !word.starts_with('-'); });
  const bool may_be_value = std::any_of(ours.begin(), first, [&](const std::string& word) {
    const auto* option = app.get_option_no_throw(word);
    return option != nullptr && option->get_items_expected_min() > 0;
  });
  if (may_be_value) {
    return "";
  }
  const bool says_run = first != ours.end() && *first == "run" && first + 1 != ours.end();
  if (first == ours.end() || (!says_run && !is_program_in_path(*first))) {
    return "";
  }
  std::string line = "tracso";
  for (auto word = ours.begin(); word != first; ++word) {
    line += " " + shell_word(*word);
  }
  line += " --run";
  for (auto word = first + (says_run ? 1 : 0); word != ours.end(); ++word) {
    line += " " + shell_word(*word);
  }
  return line;
}

std::string close_command(const CLI::App& app, const std::string& word) {
  const auto close = did_you_mean(word, command_names(app), 1);
  return close.empty() ? "" : close.front();
}

// The names of the app that was being parsed: of the command, if there is one, and of the root.
std::vector<std::string> names_in_force(const CLI::App& app) {
  auto names = option_names(app);
  for (const CLI::App* command : app.get_subcommands()) {
    names = option_names(*command);
  }
  return names;
}

// The first option that was given and is none of these; empty: there is none.
std::string given_besides(const CLI::App& app, const std::vector<std::string>& fine) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() > 0 && !contains(fine, message_name(*option))) {
      return message_name(*option);
    }
  }
  return "";
}

}  // namespace

Leave usage(const std::string& what, const std::string& hint) {
  return {2, "", "tracso: " + what + "\nhint: " + hint + "\n"};
}

void split_run(const std::vector<std::string>& words, std::vector<std::string>& ours, Words& into) {
  const auto at = std::find(words.begin(), words.end(), "--run");
  ours.assign(words.begin(), at);
  into.has_run = at != words.end();
  if (into.has_run) {
    into.run.assign(at + 1, words.end());
    if (!into.run.empty() && into.run.front() == "--") {
      into.run.erase(into.run.begin());
    }
  }
}

std::optional<Leave> misplaced_option(const CLI::App& app, const Words& words) {
  if (!words.has_run) {
    return std::nullopt;
  }
  if (words.run.empty()) {
    return usage("--run needs a command", "tracso --run python3 -c 'import ssl'");
  }
  if (words.run.front().empty()) {
    return usage("CMD is empty", "is a variable of the shell not set?");
  }
  const std::string& first = words.run.front();
  if (contains(option_names(app), before_equal(first))) {
    return usage(
        fmt::format("'{}' stands behind --run and would be the command to run", printable(first)),
        fmt::format("put it before: tracso {} --run CMD", printable(first)));
  }
  return std::nullopt;
}

std::string swallowed_options(const CLI::App& app, const Words& words) {
  const auto names = option_names(app);
  for (const std::string& word : words.run) {
    const std::string name = before_equal(word);
    if (!is_common_name(name) && contains(names, name)) {
      return fmt::format(
          "'{0}' stands behind the command and is given to it; for tracso: tracso {0} ... --run "
          "CMD",
          printable(name));
    }
  }
  return "";
}

// An empty word is a variable that was not set: to take it for nothing would answer another
// question.
std::optional<Leave> empty_word(const CLI::App& app) {
  std::vector<const CLI::App*> all{&app};
  for (const CLI::App* subcommand : app.get_subcommands()) {
    all.push_back(subcommand);
  }
  for (const CLI::App* one : all) {
    for (const CLI::Option* option : one->get_options()) {
      const auto& given = option->results();
      // One that may stand alone ("--no-leaks") has an empty result then.
      if (option->get_items_expected_min() > 0 &&
          std::find(given.begin(), given.end(), "") != given.end()) {
        return usage(fmt::format("{} is empty", message_name(*option)),
                     "is a variable of the shell not set?");
      }
    }
  }
  return std::nullopt;
}

std::optional<Leave> stray_before_command(const CLI::App& app) {
  const auto commands = app.get_subcommands();
  if (commands.empty() || commands.front()->get_name() == "help") {
    return std::nullopt;
  }
  const std::string name = commands.front()->get_name();
  // Of the report and of record alike: where they stand does not matter.
  const std::vector<std::string> shared{"--probe", "--elf", "--timeout", "--verbose"};
  const std::string stray =
      given_besides(app, name == "record" ? shared : std::vector<std::string>());
  if (stray.empty()) {
    return std::nullopt;
  }
  return usage(fmt::format("{} before {} means nothing to it", stray, name),
               fmt::format("'tracso {} -h' lists its options; they stand behind it", name));
}

std::optional<Leave> beside_explain(const CLI::App& app, const Words& words) {
  const std::string other =
      words.has_run ? "--run" : given_besides(app, {"--explain", "--color", "--verbose"});
  if (other.empty()) {
    return std::nullopt;
  }
  return usage(fmt::format("--explain and {} do not go together", other),
               "--explain CODE says what a finding means; --findings PID looks for them");
}

std::optional<Leave> mistaken_command(const CLI::App& app, const Words& words) {
  const std::string& word = words.target;
  if (word.empty() || word.find('/') != std::string::npos || ::access(word.c_str(), F_OK) == 0) {
    return std::nullopt;
  }
  const std::string what = fmt::format("there is no file and no command '{}'", printable(word));
  if (const std::string line = with_run(app, {word}); !line.empty()) {
    return usage(what, fmt::format("did you mean: {}", line));
  }
  const std::string command = close_command(app, word);
  if (command.empty()) {
    return std::nullopt;
  }
  return usage(what, fmt::format("did you mean tracso {}?", command));
}

// The last word, where it is no option: a word too many is always one behind the TARGET.
std::optional<std::string> second_target(const std::vector<std::string>& ours) {
  const bool is_word = !ours.empty() && !ours.back().starts_with('-');
  return is_word ? std::optional(ours.back()) : std::nullopt;
}

Leave explain_parse_error(const CLI::App& app,
                          const CLI::ParseError& error,
                          const std::vector<std::string>& ours) {
  if (auto leave = empty_word(app)) {  // two words, of which one is empty
    return *std::move(leave);
  }
  const auto commands = app.get_subcommands();
  const bool bad_value = error.get_name() == "ValidationError";
  const std::string run_line = commands.empty() && !bad_value ? with_run(app, ours) : "";
  if (!run_line.empty()) {
    const auto word = std::find_if(
        ours.begin(), ours.end(), [](const std::string& one) { return !one.starts_with('-'); });
    return usage(fmt::format("there is no file and no command '{}'", printable(*word)),
                 fmt::format("did you mean: {}", run_line));
  }
  if (!bad_value) {  // "--depth -1": a value, no option
    const auto names = names_in_force(app);
    auto known = option_names(app);
    known.insert(known.end(), names.begin(), names.end());
    if (auto leave = unknown_among(
            commands.empty() ? "" : commands.front()->get_name(), ours, known, names)) {
      return *std::move(leave);
    }
  }
  // "records 4192": a command that is none is taken for the TARGET, and its own for one too many.
  const auto first = std::find_if(
      ours.begin(), ours.end(), [](const std::string& word) { return !word.starts_with('-'); });
  const bool bad_word = !bad_value && error.get_name() != "ConversionError";
  if (bad_word && first != ours.end() && commands.empty() &&
      !contains(command_names(app), *first)) {
    if (contains(option_names(app), "--" + *first)) {
      return usage(fmt::format("there is no command '{}'", printable(*first)),
                   fmt::format("it is an option: tracso --{}", *first));
    }
    if (const std::string command = close_command(app, *first); !command.empty()) {
      return usage(fmt::format("there is no command '{}'", printable(*first)),
                   fmt::format("did you mean tracso {}?", command));
    }
  }
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError) && commands.empty() &&
      second_target(ours)) {
    return usage(
        fmt::format("one TARGET at a time: '{}' is a second one", printable(*second_target(ours))),
        "tracso diff OLD NEW compares two; --who NAME asks all processes");
  }
  if (!ours.empty() && ours.back() == "--why") {
    return usage("--why is to be followed by a library",
                 "tracso --why libssl.so.3; tracso --csv has all names");
  }
  return wrong_use(commands.empty() ? app : *commands.front(), error, ours);
}

}  // namespace tracso
