#include "cli/calls_options.hpp"

#include "base/text.hpp"
#include "cli/help_formatter.hpp"
#include "cli/output_forms.hpp"
#include "cli/slips.hpp"
#include "cli/terminal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

namespace tracso {
namespace {

constexpr const char* about =
    "run a command and count its calls from one library to another: who calls what, how long, how "
    "often it fails";

constexpr const char* examples = R"(
Examples:
  tracso calls ls -l                               every function that any library called
  tracso calls --group libraries curl -s URL       which library uses which, and how much time in it
  tracso calls --callee 'libcrypto.so*' python3 app.py
  tracso calls -e 'malloc+free-@libc.so*' CMD      as ltrace filters: function@library that calls
  tracso calls --count --json CMD                  for scripts; CMD's own output goes to stderr
)";

const std::map<std::string, CallGroup>& groups() {
  static const std::map<std::string, CallGroup> names{{"function", CallGroup::function},
                                                      {"caller", CallGroup::caller},
                                                      {"callee", CallGroup::callee},
                                                      {"libraries", CallGroup::libraries},
                                                      {"package", CallGroup::package},
                                                      {"thread", CallGroup::thread},
                                                      {"process", CallGroup::process}};
  return names;
}

void define(CLI::App& app, CallsWords& words) {
  const auto one_word = [](CLI::Option* option, const char* type) {
    option->type_name(type)->allow_extra_args(false);
  };
  app.add_flag("-c", words.summary, "a table at the end; this is what there is, so it is implied");
  one_word(
      app.add_option("-e",
                     words.expressions,
                     "only these: [+-]FUNCTION@LIBRARY..., the library that calls; MAIN is the "
                     "program (repeatable)"),
      "FILTER");
  one_word(
      app.add_option(
          "-l,--library", words.libraries, "only functions of libraries that match (repeatable)"),
      "GLOB");
  one_word(app.add_option("--caller", words.caller, "of these, only calls from matching libraries"),
           "GLOB");
  one_word(app.add_option("--callee", words.callee, "of these, only calls into matching libraries"),
           "GLOB");
  app.add_option(
         "--group",
         words.group,
         "one row per function (the default), caller, callee, libraries, package, thread or "
         "process")
      ->check(CLI::IsMember(
          {"function", "caller", "callee", "libraries", "package", "thread", "process"}))
      ->type_name("WHAT");
  app.add_flag("--exact", words.exact, "time every call; else the first 1024, then one in 16");
  app.add_flag("--count", words.count, "only count, the least disturbance");
  app.add_flag("--intra", words.intra, "also calls from a library to itself");
  app.add_flag("-f", words.follow, "child processes too, and what they exec");
  app.add_flag("--json", words.json, "a document on standard output");
  app.add_flag("--csv", words.csv, "one line per row on standard output");
  app.add_option("-o,--output",
                 words.output,
                 "write there instead of standard error; .json and .csv choose the form")
      ->type_name("FILE");
  app.add_option("--limit", words.limit, "rows of the table (all)")
      ->check(CLI::Range(std::size_t{0}, std::size_t{1'000'000}).description(""))
      ->type_name("N");
  app.add_option("--color", words.color, "auto, always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}));
}

std::optional<Leave> fill_filter(const CallsWords& words, calls::Filter& filter) {
  const auto wrong = [](const Error& error) {
    return usage(fmt::format("filter '{}': {}", printable(error.subject), error.reason),
                 error.hint.empty() ? "'tracso calls -h' shows examples" : error.hint);
  };
  for (const auto& expression : words.expressions) {
    if (const auto done = calls::add_expression(filter, expression); !done) {
      return wrong(done.error());
    }
  }
  for (const auto& library : words.libraries) {
    if (const auto done = calls::add_library(filter, library); !done) {
      return wrong(done.error());
    }
  }
  for (const auto& [into, pattern] :
       {std::pair(&filter.caller, &words.caller), std::pair(&filter.callee, &words.callee)}) {
    if (const auto done = calls::set_narrowing(*into, *pattern); !done) {
      return wrong(done.error());
    }
  }
  return std::nullopt;
}

std::variant<Request, Leave> request_of(const CallsWords& words, std::vector<std::string> command) {
  if (words.exact && words.count) {
    return usage("--exact and --count exclude each other", "choose one");
  }
  if (words.json && words.csv) {
    return usage("--json and --csv exclude each other", "choose one");
  }
  if (auto leave = wrong_form(words.json  ? "--json"
                              : words.csv ? "--csv"
                                          : "calls",
                              words.output)) {
    return *leave;
  }
  CallsRequest request;
  request.command = std::move(command);
  if (auto leave = fill_filter(words, request.filter)) {
    return *leave;
  }
  const auto name = lower_case(words.output);
  request.mode = words.count ? CallMode::count : words.exact ? CallMode::exact : CallMode::adaptive;
  request.group = groups().at(words.group);
  request.follow = words.follow;
  request.inside = words.intra;
  request.form = words.json || (!words.csv && name.ends_with(".json")) ? CallsRequest::Form::json
                 : words.csv || name.ends_with(".csv")                 ? CallsRequest::Form::csv
                                                                       : CallsRequest::Form::text;
  request.file = words.output.empty() ? std::nullopt : std::optional(words.output);
  request.limit = words.limit;
  const Terminal terminal = look_at_terminal(words.color == "never"    ? ColorChoice::never
                                             : words.color == "always" ? ColorChoice::always
                                                                       : ColorChoice::automatic);
  request.render.color = terminal.color;
  request.render.unicode = terminal.unicode;
  return request;
}

}  // namespace

void add_calls(CLI::App& app, CallsWords& words) {
  CLI::App* calls = app.add_subcommand("calls", about);
  calls->footer(examples);
  define(*calls, words);
}

namespace {

// The help of a command of the program, not of a program of that name.
std::string help_text() {
  CLI::App root("", "tracso");
  root.formatter(std::make_shared<HelpFormatter>(look_at_terminal(ColorChoice::automatic).width));
  CallsWords words;
  add_calls(root, words);
  return root.get_subcommand("calls")->help();
}

}  // namespace

// Our options end at the first word that is neither an option nor an option's value, or at "--".
std::variant<Request, Leave> parse_calls_options(const std::vector<std::string>& all) {
  CLI::App app(about, "tracso calls");
  CallsWords words;
  define(app, words);
  app.prefix_command();
  const auto marker = std::find(all.begin(), all.end(), "--");
  std::vector<std::string> reversed(std::make_reverse_iterator(marker), all.rend());
  try {
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    return Leave{0, help_text(), ""};
  } catch (const CLI::ParseError& error) {
    return usage(printable(error.what()), "'tracso calls -h' lists the options");
  }
  if (auto leave = empty_word(app)) {
    return *leave;
  }
  std::vector<std::string> command = app.remaining();
  if (!command.empty() && command.front().size() > 1 && command.front().front() == '-') {
    return usage(fmt::format("unknown option '{}'", printable(command.front())),
                 "'tracso calls -h' lists the options; a command of that name comes behind --");
  }
  command.insert(
      command.end(), command.empty() && marker != all.end() ? marker + 1 : marker, all.end());
  if (command.empty() || command.front().empty()) {
    return usage("calls needs a command", "tracso calls ls -l");
  }
  return request_of(words, std::move(command));
}

}  // namespace tracso
