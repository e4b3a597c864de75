#include "cli/calls_options.hpp"

#include "base/text.hpp"
#include "cli/calls_request.hpp"
#include "cli/definition.hpp"
#include "cli/help_formatter.hpp"
#include "cli/leave.hpp"
#include "cli/slips.hpp"
#include "cli/split_command.hpp"
#include "cli/terminal.hpp"
#include "cli/unknown_option.hpp"
#include "cli/values.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>

namespace tracso {
namespace {

constexpr const char* about =
    "run a command and show its calls into libraries with arguments and results, or with -c count "
    "and time them: who calls what, how long, how often it fails";

void define_lines(CLI::App& app, CallsWords& words) {
  const auto number = [](CLI::Option* option, const char* type, std::uint64_t most = 1'000'000) {
    option->type_name(type)->transform(number_between(0, most));
  };
  number(app.add_option("-s", words.text_bytes, "of a text at most so many bytes (32)"),
         "BYTES",
         tracso_most_text_bytes);
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
      ->check(process_number())
      ->type_name("PID")
      ->allow_extra_args(false);
  app.add_option("-d,--duration", words.seconds, "with -p: for so long (else until Ctrl-C)")
      ->check(seconds_between(shortest_time, longest_time))
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
      ->check(one_of({"agent", "ptrace"}))
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
      ->check(one_of({"function", "caller", "callee", "libraries", "package", "thread", "process"}))
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
      ->transform(number_between(0, 1'000'000))
      ->type_name("N");
  define_attaching(app, words);
  define_lines(app, words);
  define_engine(app, words);
  app.add_option("--color", words.color, "auto, always or never")
      ->check(one_of({"auto", "always", "never"}))
      ->type_name("WHEN");
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

// Those before the command.
std::vector<std::string> own_words(const CLI::App& app, const std::vector<std::string>& all) {
  std::vector<std::string> ours{"calls"};
  ours.insert(ours.end(), all.begin(), all.end());
  std::vector<std::string> command;
  split_command(app, ours, command);
  return ours;
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
  const auto ours = own_words(app, all);
  if (auto leave = empty_behind_sign(ours, option_names(app))) {
    return *std::move(leave);
  }
  try {
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    return Leave{0, help_text(), ""};
  } catch (const CLI::ParseError& error) {
    return wrong_use(app, error, ours);
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
  if (!command.empty() && command.front().empty()) {
    return usage("CMD is empty", "is a variable of the shell not set?");
  }
  if (words.processes.empty() && command.empty()) {
    return usage("calls needs a command or -p PID", "tracso calls ls -l");
  }
  return calls_request(words, std::move(command));
}

}  // namespace tracso
