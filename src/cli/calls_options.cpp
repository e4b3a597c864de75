#include "cli/calls_options.hpp"

#include "base/text.hpp"
#include "cli/calls_refusals.hpp"
#include "cli/definition.hpp"
#include "cli/help_formatter.hpp"
#include "cli/output_forms.hpp"
#include "cli/slips.hpp"
#include "cli/terminal.hpp"
#include "cli/unknown_option.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <memory>

namespace tracso {
namespace {

constexpr const char* about =
    "run a command and show its calls into libraries with arguments and results, or with -c count "
    "and time them: who calls what, how long, how often it fails";

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

void define_lines(CLI::App& app, CallsWords& words) {
  const auto number = [](CLI::Option* option, const char* type) {
    option->type_name(type)->check(CLI::Range(0, 1'000'000));
  };
  number(app.add_option("-s", words.text_bytes, "of a text at most so many bytes (32)"), "BYTES");
  number(app.add_option("-a,--align", words.align, "column of results (50)"), "COLUMN");
  number(app.add_option("-n,--indent", words.indent, "spaces for each call under way (0)"), "N");
  app.add_flag("-t", words.time, "time of day; -tt with microseconds, -ttt seconds since 1970");
  app.add_flag("-r", words.relative, "time since the line before");
  app.add_flag("-T", words.took, "how long each call took");
  app.add_flag("-i", words.instruction, "where it was called: library+offset");
  app.add_flag("-C,--demangle", words.demangle, "C++ names as in the source");
  app.add_flag("-L", words.no_default, "without -e and -l do not take the program's own calls");
  app.add_flag("--drop", words.drop, "rather lose lines than let the command wait for tracso");
  app.add_flag("-b,--no-signals", words.no_signals, "do not show signals (--engine ptrace)");
  app.add_option("-F,--config",
                 words.configurations,
                 "what functions take and give, in the language of ltrace.conf(5): before the "
                 "built-in table (repeatable)")
      ->type_name("FILE")
      ->allow_extra_args(false);
  number(app.add_option("-A", words.array_elements, "elements of an array, structures deep (4)"),
         "N");
}

void define_attaching(CLI::App& app, CallsWords& words) {
  app.add_option("-p,--pid",
                 words.processes,
                 "of a process that runs already, instead of a command (repeatable)")
      ->check(CLI::Range(1, std::numeric_limits<std::int32_t>::max()).description(""))
      ->type_name("PID")
      ->allow_extra_args(false);
  app.add_option("-d,--duration", words.seconds, "with -p: for so long (else until Ctrl-C)")
      ->check(CLI::Range(0.001, 1e6).description(""))
      ->check([](const std::string& word) {  // "nan" lies in any range
        return parse_decimal(word) ? "" : "'" + printable(word) + "' is not a number of seconds";
      })
      ->type_name("SECONDS");
}

void define_engine(CLI::App& app, CallsWords& words) {
  app.add_option("-x",
                 words.entry_points,
                 "also calls of functions inside a library or the program, static ones too: "
                 "[+-]FUNCTION@LIBRARY..., the library that has it (repeatable; by ptrace)")
      ->type_name("FILTER")
      ->allow_extra_args(false);
  app.add_flag("-S", words.system_calls, "system calls too (by ptrace)");
  app.add_option("-u", words.user, "run the command as that user (root only; by ptrace)")
      ->type_name("USER")
      ->allow_extra_args(false);
  app.add_option("--engine",
                 words.engine,
                 "agent: from inside; ptrace: from outside, some 100 us for each call; without it "
                 "the agent, ptrace for -x and -S and where no agent can get in")
      ->check(CLI::IsMember({"agent", "ptrace"}))
      ->type_name("WHICH");
}

void define(CLI::App& app, CallsWords& words) {
  const auto one_word = [](CLI::Option* option, const char* type) {
    option->type_name(type)->allow_extra_args(false);
  };
  app.add_flag("-c",
               words.summary,
               "a table of all calls at the end, not a line for each; implied by --group, --exact, "
               "--count, --limit, --csv and -o x.json");
  one_word(
      app.add_option("-e",
                     words.expressions,
                     "only these: [+-]FUNCTION@LIBRARY..., the library that calls; MAIN is the "
                     "program (repeatable); lines show @MAIN, a table all"),
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
  app.add_flag("--json",
               words.json,
               "a line of JSON for each call on standard output; of a table a document");
  app.add_flag("--csv", words.csv, "one line per row on standard output");
  app.add_option("-o,--output",
                 words.output,
                 "write there instead of standard error; .json and .csv choose a table's form, "
                 ".jsonl lines "
                 "of JSON, .dot .svg .png .pdf draw which library calls which")
      ->type_name("FILE");
  app.add_option("--limit", words.limit, "rows of the table (all)")
      ->check(CLI::Range(std::size_t{0}, std::size_t{1'000'000}).description(""))
      ->type_name("N");
  define_attaching(app, words);
  define_lines(app, words);
  define_engine(app, words);
  app.add_option("--color", words.color, "auto, always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}));
}

Leave wrong_filter(const Error& error) {
  return usage(fmt::format("filter '{}': {}", printable(error.subject), error.reason),
               error.hint.empty() ? "'tracso calls -h' shows examples" : error.hint);
}

std::optional<Leave> fill_filter(const CallsWords& words, calls::Filter& filter) {
  for (const auto& expression : words.expressions) {
    if (const auto done = calls::add_expression(filter, expression); !done) {
      return wrong_filter(done.error());
    }
  }
  for (const auto& library : words.libraries) {
    if (const auto done = calls::add_library(filter, library); !done) {
      return wrong_filter(done.error());
    }
  }
  for (const auto& [into, pattern] :
       {std::pair(&filter.caller, &words.caller), std::pair(&filter.callee, &words.callee)}) {
    if (const auto done = calls::set_narrowing(*into, *pattern); !done) {
      return wrong_filter(done.error());
    }
  }
  return std::nullopt;
}

calls::LineOptions line_options(const CallsWords& words, const Terminal& terminal) {
  calls::LineOptions lines;
  constexpr std::size_t usual_width = 80;  // ltrace: five eighths of the screen
  const bool to_file = !words.output.empty() || terminal.width == 0;
  lines.align = words.align.value_or((to_file ? usual_width : terminal.width) * 5 / 8);
  lines.indent = words.indent;
  lines.limits.text_bytes = words.text_bytes;
  lines.limits.elements = words.array_elements;
  lines.took = words.took;
  lines.instruction = words.instruction;
  lines.demangle = words.demangle;
  lines.always_pid = words.follow;
  lines.time = words.relative    ? calls::LineTime::relative
               : words.time == 0 ? calls::LineTime::none
               : words.time == 1 ? calls::LineTime::seconds
               : words.time == 2 ? calls::LineTime::microseconds
                                 : calls::LineTime::epoch;
  return lines;
}

std::optional<Leave> fill_engine(const CallsWords& words, CallsRequest& request) {
  if (auto leave = refused_by_engine(words)) {
    return leave;
  }
  const bool from_outside = is_seen_from_outside(words);
  request.engine = words.engine == "ptrace" || from_outside ? CallsRequest::Engine::ptrace
                   : words.engine == "agent"                ? CallsRequest::Engine::agent
                                                            : CallsRequest::Engine::automatic;
  request.system_calls = words.system_calls;
  request.no_signals = words.no_signals;
  request.user = words.user;
  for (const auto& expression : words.entry_points) {
    request.entries = request.entries.value_or(calls::Filter{});
    if (const auto done = calls::add_expression(*request.entries, expression); !done) {
      return wrong_filter(done.error());
    }
  }
  // With -x and -S those of the program itself, as for ltrace: each call seen costs two stops.
  const auto& filter = request.filter;
  const bool unfiltered = filter.rules.empty() && filter.caller.empty() && filter.callee.empty();
  const bool asks_for_others = words.system_calls || !words.entry_points.empty();
  if (asks_for_others && unfiltered) {
    request.no_imports = words.no_default || !words.processes.empty();
    request.lines.caller = false;
    if (const auto done = calls::add_expression(request.filter, "@MAIN"); !done) {
      return wrong_filter(done.error());
    }
  }
  return std::nullopt;
}

bool is_picture(std::string_view extension) {
  constexpr std::array extensions{"dot", "gv", "svg", "png", "pdf"};
  return std::find(extensions.begin(), extensions.end(), extension) != extensions.end();
}

// Lines without a filter are the calls of the program itself, as ltrace's.
std::optional<Leave> fill_lines(const CallsWords& words,
                                const Terminal& terminal,
                                CallsRequest& request) {
  const bool caller = request.lines.caller;
  request.lines = line_options(words, terminal);
  request.lines.caller = caller;
  request.drop = words.drop;
  if (words.text_bytes > tracso_most_text_bytes) {
    return usage(fmt::format("-s {}: of a text at most {} bytes are copied",
                             words.text_bytes,
                             static_cast<int>(tracso_most_text_bytes)),
                 "a smaller number");
  }
  const auto& filter = request.filter;
  const bool unfiltered = filter.rules.empty() && filter.caller.empty() && filter.callee.empty();
  if (unfiltered && words.no_default) {
    return usage("-L without -e, -l, -x or -S shows no call", "-e '*' shows all");
  }
  if (unfiltered) {
    request.lines.caller = false;
    if (const auto done = calls::add_expression(request.filter, "@MAIN"); !done) {
      return usage(done.error().reason, "");
    }
  }
  return std::nullopt;
}

// A sum at the end, not a line for each call.
bool asks_for_table(const CallsWords& words) {
  const auto extension = form_extension(words.output);
  return words.summary || words.exact || words.count || words.limit || !words.group.empty() ||
         words.csv || extension == "json" || extension == "csv" ||
         (!words.json && is_picture(extension));
}

CallsRequest::Form form_of(const CallsWords& words) {
  using Form = CallsRequest::Form;
  const auto extension = form_extension(words.output);
  if (!asks_for_table(words)) {
    const bool records = words.json || extension == "jsonl" || extension == "ndjson";
    return records ? Form::records : Form::lines;
  }
  const auto form = words.json ? "json" : words.csv ? "csv" : extension;
  return form == "json"     ? Form::json
         : form == "csv"    ? Form::csv
         : is_picture(form) ? Form::dot
                            : Form::text;
}

// A picture is one of libraries.
std::optional<Leave> fill_picture(const CallsWords& words, CallsRequest& request) {
  if (request.form != CallsRequest::Form::dot) {
    return std::nullopt;
  }
  if (!words.group.empty() && request.group != CallGroup::libraries) {
    return usage("a picture shows libraries: --group has no meaning for it",
                 "-c -o FILE.txt writes that table");
  }
  const auto extension = form_extension(words.output);
  request.group = CallGroup::libraries;
  request.image = extension == "dot" || extension == "gv" ? "" : extension;
  return std::nullopt;
}

std::variant<Request, Leave> request_of(const CallsWords& words, std::vector<std::string> command) {
  if (auto leave = refused_for_processes(words, !command.empty())) {
    return *leave;
  }
  if (words.exact && words.count) {
    return usage("--exact and --count exclude each other", "choose one");
  }
  if (words.json && words.csv) {
    return usage("--json and --csv exclude each other", "choose one");
  }
  const bool is_table = asks_for_table(words);
  if (auto leave = wrong_form(words.csv                ? "--csv"
                              : words.json && is_table ? "--json"
                              : words.json             ? "calls --json"
                              : is_table               ? "calls -c"
                                                       : "calls",
                              words.output)) {
    return *leave;
  }
  CallsRequest request;
  request.command = std::move(command);
  for (const std::int32_t process : words.processes) {  // one is attached to once
    if (std::find(request.processes.begin(), request.processes.end(), process) ==
        request.processes.end()) {
      request.processes.push_back(process);
    }
  }
  if (words.seconds) {
    request.seconds = std::chrono::milliseconds(std::llround(*words.seconds * 1000));
  }
  if (auto leave = fill_filter(words, request.filter)) {
    return *leave;
  }
  if (auto leave = fill_engine(words, request)) {
    return *leave;
  }
  request.mode = words.count ? CallMode::count : words.exact ? CallMode::exact : CallMode::adaptive;
  request.group = words.group.empty() ? CallGroup::function : groups().at(words.group);
  request.configurations = words.configurations;
  request.follow = words.follow;
  request.inside = words.intra;
  request.form = form_of(words);
  if (auto leave = fill_picture(words, request)) {
    return *leave;
  }
  request.file = words.output.empty() ? std::nullopt : std::optional(words.output);
  request.limit = words.limit.value_or(0);
  const Terminal terminal = look_at_terminal(words.color == "never"    ? ColorChoice::never
                                             : words.color == "always" ? ColorChoice::always
                                                                       : ColorChoice::automatic);
  request.render.color = terminal.color;
  request.render.unicode = terminal.unicode;
  if (auto leave =
          request.is_table() ? refused_for_tables(words) : fill_lines(words, terminal, request)) {
    return *leave;
  }
  if (request.form == CallsRequest::Form::records) {
    if (auto leave = refused_for_records(words)) {
      return *leave;
    }
  }
  return request;
}

}  // namespace

void add_calls(CLI::App& app, CallsWords& words) {
  CLI::App* calls = app.add_subcommand("calls", about);
  define(*calls, words);
}

namespace {

// The help of a command of the program, not of a program of that name.
std::string help_text() {
  CLI::App root("", "tracso");
  root.set_help_flag("-h,--help", "this text");
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
    return unknown_option("calls", command.front(), option_names(app));
  }
  command.insert(
      command.end(), command.empty() && marker != all.end() ? marker + 1 : marker, all.end());
  if (words.processes.empty() && (command.empty() || command.front().empty())) {
    return usage("calls needs a command or -p PID", "tracso calls ls -l");
  }
  return request_of(words, std::move(command));
}

}  // namespace tracso
