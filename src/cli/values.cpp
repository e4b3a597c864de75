#include "cli/values.hpp"

#include "base/text.hpp"
#include "cli/definition.hpp"
#include "cli/examples.hpp"
#include "cli/leave.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <utility>

namespace tracso {
namespace {

constexpr const char* unset_variable = "is a variable of the shell not set?";

// An empty value is refused by empty_word() and its kin, in the same words for all options.
std::string said_of(const std::string& word, const std::string& what) {
  return word.empty() ? "is empty" : fmt::format("'{}' {}", printable(word), what);
}

std::string this_or_that(const std::vector<std::string>& words, std::string_view last) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    out += (i == 0 ? "" : i + 1 == words.size() ? fmt::format(" {} ", last) : ", ") + words[i];
  }
  return out;
}

// "tracso", "tracso stat": how the command is typed.
std::string typed_name(const CLI::App& command) {
  return (command.get_parent() == nullptr ? "" : "tracso ") + command.get_name();
}

std::string short_name(const CLI::App& command) {
  const std::string typed = typed_name(command);
  const std::size_t blank = typed.find(' ');
  return blank == std::string::npos ? "" : typed.substr(blank + 1);
}

// A value that the option takes.
std::string sample_of(const CLI::Option& option) {
  const auto words = choices_of(option);
  if (words.size() > 1) {
    return words[1];
  }
  constexpr std::array<std::pair<std::string_view, std::string_view>, 14> samples{
      {{"N", "3"},
       {"COLUMN", "60"},
       {"BYTES", "64"},
       {"MS", "5"},
       {"SECONDS", "2.5"},
       {"WHEN", "idle"},
       {"SIZE", "500M"},
       {"SONAME", "libssl.so.3"},
       {"CODE", "dup-openmp"},
       {"SPEC", "'libs>60'"},
       {"GROWTH", "10%"},
       {"NAME=GROWTH", "rss=5%+1MB"},
       {"GLOB", "'libssl*'"},
       {"FILTER", "'open*@MAIN'"}}};
  const std::string type = option.get_type_name();
  const auto* const found = std::find_if(
      samples.begin(), samples.end(), [&](const auto& one) { return one.first == type; });
  return found == samples.end() ? type : std::string(found->second);
}

// What has to stand behind an option for the line to mean something.
std::string rest_of(const std::string& command, const std::string& option) {
  struct Rest {
    std::string_view command, option, rest;
  };

  constexpr std::array rests{Rest{"", "--pick-mode", ""},
                             Rest{"", "--from", ""},
                             Rest{"", "--who", ""},
                             Rest{"", "--explain", ""},
                             Rest{"", "--root", "/usr/bin/python3"},
                             Rest{"", "--at", "--run CMD"},
                             Rest{"", "--no-follow", "--run CMD"},
                             Rest{"", "--fail-on-regression", "--baseline FILE PID"},
                             Rest{"", "--tolerance", "--baseline FILE PID"},
                             Rest{"stat", "--fail-on-regression", "--baseline FILE CMD"},
                             Rest{"stat", "--tolerance", "--baseline FILE CMD"},
                             Rest{"stat", "--for", "-p PID"},
                             Rest{"stat", "--used", "--for 10 -p PID"},
                             Rest{"stat", "--reset-peak", "-p PID"},
                             Rest{"stat", "--pid", ""},
                             Rest{"calls", "--duration", "-p PID"},
                             Rest{"calls", "--pid", ""},
                             Rest{"watch", "--stream-format", "--stream DEST PID"},
                             Rest{"record", "--output", "PID"},
                             Rest{"record", "", "PID -o DEST"},
                             Rest{"stat", "", "CMD"},
                             Rest{"calls", "", "CMD"},
                             Rest{"diff", "", "OLD NEW"}};
  const auto* const found = std::find_if(rests.begin(), rests.end(), [&](const Rest& one) {
    return one.command == command && (one.option.empty() || one.option == option);
  });
  return found == rests.end() ? "PID" : std::string(found->rest);
}

// The first example of the command's own: that of diff begins with a record.
std::string example_line(const CLI::App& command) {
  const std::string typed = typed_name(command);
  for (const Example& one : examples_of(short_name(command))) {
    if (one.command.starts_with(typed + " ")) {
      return std::string(one.command);
    }
  }
  return fmt::format("'{} -h' lists its options", typed);
}

const CLI::Option* option_of_word(const CLI::App& command, const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  const auto options = command.get_options();
  const auto found = std::find_if(options.begin(), options.end(), [&](const CLI::Option* one) {
    return name.starts_with('-') && one->check_name(name);
  });
  return found == options.end() ? nullptr : *found;
}

// What one of our checks said stands behind the option's name.
std::optional<Leave> refused_value(const CLI::App& command, const std::string& text) {
  for (const CLI::Option* option : command.get_options()) {
    const std::string before = option->get_name() + ": ";
    if (!text.starts_with(before)) {
      continue;
    }
    const std::string said = text.substr(before.size());
    const std::string name = message_name(*option);
    std::string hint = use_of(command, *option);
    if (said == "is empty") {
      hint = unset_variable;
    } else if (const auto words = choices_of(*option); !words.empty()) {
      const auto close = did_you_mean(lower_case(option->results().back()), words, 1);
      hint = close.empty() ? hint : fmt::format("did you mean {} {}?", name, close.front());
    }
    return usage_error(fmt::format("{} {}", name, said), hint);
  }
  return std::nullopt;
}

std::optional<Leave> value_of_flag(const CLI::App& command, const std::vector<std::string>& ours) {
  for (const std::string& word : ours) {
    const CLI::Option* option =
        word.find('=') == std::string::npos ? nullptr : option_of_word(command, word);
    if (option != nullptr && option->get_items_expected_max() == 0) {
      return usage_error(
          fmt::format(
              "{} takes no value, and '{}' gives it one", message_name(*option), printable(word)),
          use_of(command, *option));
    }
  }
  return std::nullopt;
}

std::optional<Leave> given_twice(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options()) {
    if (option->count() > 1 && option->get_items_expected_max() == 1) {
      return usage_error(fmt::format("{} is given more than once", message_name(*option)),
                         "once is enough: " + use_of(command, *option));
    }
  }
  return std::nullopt;
}

std::optional<Leave> value_missing(const CLI::App& command, const std::vector<std::string>& ours) {
  const CLI::Option* option = ours.empty() ? nullptr : option_of_word(command, ours.back());
  if (option == nullptr || option->get_items_expected_min() == 0) {
    return std::nullopt;
  }
  return usage_error(message_name(*option) + " needs a value", use_of(command, *option));
}

std::optional<Leave> word_missing(const CLI::App& command) {
  std::vector<std::string> missing;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_required() && option->count() == 0) {
      const bool positional = option->get_lnames().empty() && option->get_snames().empty();
      missing.push_back(positional ? option->get_name()
                                   : message_name(*option) + " " + option->get_type_name());
    }
  }
  if (missing.empty()) {
    return std::nullopt;
  }
  return usage_error(fmt::format("{} needs {}", short_name(command), this_or_that(missing, "and")),
                     example_line(command));
}

std::optional<Leave> word_too_many(const CLI::App& command) {
  const auto words = command.remaining();
  if (words.empty()) {
    return std::nullopt;
  }
  const std::string name = short_name(command);
  const auto usage = usage_of(name);
  return usage_error(fmt::format("'{}' is one word too many{}",
                                 printable(words.front()),
                                 name.empty() ? "" : " for " + name),
                     usage.empty() ? fmt::format("'{} -h' lists the options", typed_name(command))
                                   : std::string(usage.front()));
}

}  // namespace

CLI::Validator one_of(const std::vector<std::string>& words) {
  return {[words](const std::string& word) {
            const bool known = std::find(words.begin(), words.end(), word) != words.end();
            return known ? "" : said_of(word, "is not " + this_or_that(words, "or"));
          },
          "{" + join(words, ",") + "}"};
}

CLI::Validator number_between(std::uint64_t least, std::uint64_t most) {
  return {[least, most](std::string& word) -> std::string {
            const auto number = parse_unsigned(word);
            if (!number || *number < least || *number > most) {
              return said_of(word, fmt::format("is not a number from {} to {}", least, most));
            }
            word = std::to_string(*number);  // CLI11 would read "010" as 8
            return "";
          },
          ""};
}

CLI::Validator process_number() {
  return {[](const std::string& word) -> std::string {
            const auto pid = parse_unsigned(word);
            const bool fine = pid && *pid > 0 && *pid <= std::numeric_limits<std::int32_t>::max();
            return fine ? "" : said_of(word, "is not a process number");
          },
          ""};
}

CLI::Validator seconds_between(double least, double most) {
  return {[least, most](const std::string& word) -> std::string {
            const auto seconds = parse_decimal(word);
            return seconds && *seconds >= least && *seconds <= most
                       ? ""
                       : said_of(word,
                                 fmt::format(
                                     "is not a number of seconds from {} to {:.0f}", least, most));
          },
          ""};
}

// "MODE:{textual,curses,plain}" -> the three words.
std::vector<std::string> choices_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t open = type.find('{');
  const std::size_t close = type.find('}', open == std::string::npos ? 0 : open);
  std::vector<std::string> out;
  if (open != std::string::npos && close != std::string::npos) {
    for (const auto word : split(std::string_view(type).substr(open + 1, close - open - 1), ',')) {
      out.emplace_back(word);
    }
  }
  return out;
}

std::optional<Leave> empty_behind_sign(const std::vector<std::string>& ours,
                                       const std::vector<std::string>& names) {
  for (const std::string& word : ours) {
    const std::string name = word.substr(0, word.size() - (word.ends_with('=') ? 1 : 0));
    if (name != word && std::find(names.begin(), names.end(), name) != names.end()) {
      return usage_error(name + " is empty", unset_variable);
    }
  }
  return std::nullopt;
}

std::string use_of(const CLI::App& command, const CLI::Option& option) {
  const std::string name = message_name(option);
  const std::string value = option.get_items_expected_min() > 0 ? " " + sample_of(option) : "";
  const std::string rest = rest_of(short_name(command), name);
  return typed_name(command) + " " + name + value + (rest.empty() ? "" : " ") + rest;
}

Leave wrong_use(const CLI::App& command,
                const CLI::ParseError& error,
                const std::vector<std::string>& ours) {
  // Its name is of no use: of a word too many it is the command's.
  const auto kind = static_cast<CLI::ExitCodes>(error.get_exit_code());
  std::optional<Leave> told;
  if (kind == CLI::ExitCodes::ValidationError) {
    told = refused_value(command, error.what());
    told = told || command.get_parent() == nullptr
               ? told
               : refused_value(*command.get_parent(), error.what());
  } else if (kind == CLI::ExitCodes::RequiredError) {
    told = word_missing(command);
  }
  told = told ? told : value_of_flag(command, ours);
  told = told || kind != CLI::ExitCodes::ExtrasError ? told : word_too_many(command);
  told = told ? told : given_twice(command);
  told = told ? told : value_missing(command, ours);
  return told ? *std::move(told)
              : usage_error(printable(error.what()),
                            fmt::format("'{} -h' lists the options", typed_name(command)));
}

}  // namespace tracso
