#include "cli/help_formatter.hpp"

#include "base/text.hpp"
#include "render/text/columns.hpp"
#include "render/text/wrap.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tracso {
namespace {

constexpr std::size_t name_columns = 30;
constexpr std::size_t narrow = 64;  // below it the description stands on a line of its own
constexpr std::size_t widest = 100;

// "-o,--output FILE", "--pick-mode MODE", "TARGET"
std::string name_of(const CLI::Option& option) {
  std::string name;
  for (const auto& one : option.get_snames()) {
    name += (name.empty() ? "-" : ", -") + one;
  }
  for (const auto& one : option.get_lnames()) {
    name += (name.empty() ? "--" : ", --") + one;
  }
  if (name.empty()) {
    return option.get_name();
  }
  // CLI11 adds the choices behind the type's name: the description has them in words.
  const std::string type = option.get_type_name();
  const std::string shown = type.substr(0, type.find(':'));
  const bool value = option.get_items_expected_max() > 0 && !shown.empty();
  return name + (value ? " " + (shown.starts_with('{') ? "WHICH" : shown) : "");
}

}  // namespace

HelpFormatter::HelpFormatter(std::size_t columns)
    : columns_(std::min(columns == 0 ? 80 : columns, widest)) {}

std::string HelpFormatter::entry(const std::string& name, const std::string& text) const {
  const bool own_line = columns_ < narrow || name.size() + 4 > name_columns;
  const std::size_t before = columns_ < narrow ? 6 : name_columns;
  std::string out = "  " + name;
  if (text.empty()) {
    return out + "\n";
  }
  out = own_line ? out + "\n" + std::string(before, ' ') : pad_right(out, before);
  return out + wrapped(text, {columns_, before, before}) + "\n";
}

// CLI11 puts two empty lines between groups.
std::string HelpFormatter::make_help(const CLI::App* app,
                                     std::string name,
                                     CLI::AppFormatMode mode) const {
  std::string text = CLI::Formatter::make_help(app, std::move(name), mode);
  for (auto at = text.find("\n\n\n"); at != std::string::npos; at = text.find("\n\n\n", at)) {
    text.erase(at, 1);
  }
  return text;
}

std::string HelpFormatter::make_usage(const CLI::App* app, std::string /*name*/) const {
  const bool program = app->get_parent() == nullptr;
  const auto lines = usage_of(program ? "" : app->get_name());
  if (lines.empty()) {
    return CLI::Formatter::make_usage(app, "tracso " + app->get_name());
  }
  std::string text = "\n";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    text += (i == 0 ? "Usage: " : "       ") + std::string(lines[i]) + "\n";
  }
  return program ? text + "\n" +
                       wrapped("TARGET is a PID, or the path of a program or library.",
                               {columns_, 0, 0}) +
                       "\n"
                 : text;
}

std::string HelpFormatter::make_description(const CLI::App* app) const {
  return wrapped(app->get_description(), {columns_, 0, 0}) + "\n";
}

std::string HelpFormatter::make_option(const CLI::Option* option, bool /*is_positional*/) const {
  return entry(name_of(*option), option->get_description());
}

std::string HelpFormatter::make_subcommand(const CLI::App* command) const {
  return entry(command->get_name(), command->get_description());
}

// What an example is good for stands beside it, or below it where there is no room.
std::string HelpFormatter::example(const Example& one) const {
  constexpr std::size_t before = 40;
  const std::string command = "  " + std::string(one.command);
  const bool beside = columns_ >= 80 && command.size() + 2 <= before;
  return (beside ? pad_right(command, before) + wrapped(one.what, {columns_, before, before})
                 : command + "\n      " + wrapped(one.what, {columns_, 6, 6})) +
         "\n";
}

std::string HelpFormatter::make_footer(const CLI::App* app) const {
  const bool program = app->get_parent() == nullptr;
  std::string out;
  if (!program && !app->get_footer().empty()) {
    out = "\n" + app->get_footer() + "\n";
  }
  const auto examples = examples_of(program ? "" : app->get_name());
  if (!examples.empty()) {
    out += "\nExamples:\n";
  }
  for (const Example& one : examples) {
    out += example(one);
  }
  return out;
}

}  // namespace tracso
