#include "cli/help_formatter.hpp"

#include "base/text.hpp"
#include "render/text/columns.hpp"
#include "render/text/wrap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tracso {
namespace {

constexpr std::size_t name_columns = 30;
constexpr std::size_t narrow = 64;  // below it the description stands on a line of its own
constexpr std::size_t widest = 100;

struct Example {
  std::string_view command, what;
};

// Every one of them is run by tests/live/examples_test.cpp.
constexpr std::array examples{
    Example{"tracso 4192", "what process 4192 has loaded, and why"},
    Example{"tracso --run python3 -c 'import ssl'", "run a command, report it at its end"},
    Example{"tracso --why libssl.so.3", "who brought it, by which rule (last trace)"},
    Example{"tracso --findings 4192", "what is wrong in it, and what to do"},
    Example{"tracso --who libssl", "which processes have it, in which version"},
    Example{"tracso --bindings 4192", "whose functions are really called"},
    Example{"tracso /usr/bin/gdb", "what a program would load"},
    Example{"tracso --json 4192 | jq '.totals'", "everything, for scripts"},
    Example{"tracso 4192 -o graph.svg", "a picture (Graphviz)"},
    Example{"tracso help attribution", "the guide: 'tracso help' lists its topics"}};

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

// "  tracso calls -c CMD      a table": examples whose words stand below them if one is too wide.
std::string fitted(std::string_view footer, std::size_t columns) {
  constexpr std::size_t indent = 2, below = 6;
  const auto lines = split(footer, '\n');
  const bool too_wide = std::any_of(lines.begin(), lines.end(), [&](std::string_view line) {
    return display_width(line) > columns;
  });
  std::string out;
  for (const std::string_view line : lines) {
    const std::size_t gap = too_wide && line.size() > indent ? line.find("  ", indent) : line.npos;
    out += gap == line.npos ? wrapped(line, {columns, 0, below})
                            : std::string(line.substr(0, gap)) + "\n" + std::string(below, ' ') +
                                  wrapped(trim(line.substr(gap)), {columns, below, below});
    out += "\n";
  }
  return out;
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
  if (app->get_parent() != nullptr) {
    std::string text = CLI::Formatter::make_usage(app, "tracso " + std::string(app->get_name()));
    // CLI11 does not know of the command behind our options: it never sees its words.
    if (app->get_name() == "stat" || app->get_name() == "calls") {
      text.insert(text.find_last_not_of('\n') + 1, " CMD [ARG...]");
    }
    return text;
  }
  return "\nUsage: tracso [options] [TARGET]\n"
         "       tracso [options] --run CMD [ARG...]\n"
         "       tracso COMMAND [options] ...\n\n" +
         wrapped("TARGET is a PID, or the path of a program or library.", {columns_, 0, 0}) + "\n";
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

std::string HelpFormatter::make_footer(const CLI::App* app) const {
  if (app->get_parent() != nullptr) {
    return app->get_footer().empty() ? "" : "\n" + fitted(app->get_footer(), columns_);
  }
  constexpr std::size_t before = 40;
  std::string out = "\nExamples:\n";
  for (const Example& example : examples) {
    const std::string command = "  " + std::string(example.command);
    const bool beside = columns_ >= 80;
    out += beside ? pad_right(command, before) + wrapped(example.what, {columns_, before, before})
                  : command + "\n      " + wrapped(example.what, {columns_, 6, 6});
    out += '\n';
  }
  return out;
}

}  // namespace tracso
