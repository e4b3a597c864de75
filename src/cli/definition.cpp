#include "cli/definition.hpp"

#include "cli/calls_options.hpp"
#include "cli/help_formatter.hpp"
#include "cli/leave.hpp"
#include "cli/question_options.hpp"
#include "cli/values.hpp"

#include <CLI/CLI.hpp>

#include <memory>

namespace tracso {
namespace {

constexpr const char* look_at = "What to look at";
constexpr const char* how = "How to look";
constexpr const char* gates = "Gates for continuous integration";
constexpr const char* other = "Other";

void add_what_to_look_at(CLI::App& app, Words& words) {
  app.add_option("TARGET", words.target, "a PID, or the path of a program or library")->group("");
  // Never parsed: argv is split at it before. It stands here for the help and the completions.
  app.add_option("--run",
                 words.run_in_help,
                 "run a command and look at it at its end; all words "
                 "behind --run are the command's")
      ->type_name("CMD...")
      ->group(look_at);
  app.add_flag("--pick", words.pick, "choose a process from a list (also: tracso alone)")
      ->group(look_at);
  app.add_flag("--pick-py", words.pick_python, "choose among Python processes")->group(look_at);
  app.add_option("--pick-mode", words.pick_mode, "textual (full screen), curses (compact) or plain")
      ->check(one_of({"textual", "curses", "plain"}))
      ->type_name("MODE")
      ->group(look_at);
  app.add_option(
         "--from", words.from, "read a saved --json document or a recording; - is standard input")
      ->type_name("FILE")
      ->group(look_at);
  app.add_option("--root", words.root, "resolve FILE inside this system tree")
      ->type_name("DIR")
      ->group(look_at);
  app.add_flag("--children", words.children, "all descendants' libraries join the graph")
      ->group(look_at);
}

void add_what_to_print(CLI::App& app, Words& words) {
  const CLI::Validator small_number = number_between(0, 1'000'000);
  app.add_option("--why", words.why, "the origin of a library: a soname, a path or a prefix")
      ->type_name("SONAME")
      ->group(what_to_print);
  app.add_flag("--tree", words.tree, "the tree of causes")->group(what_to_print);
  app.add_flag("--json", words.json, "the whole document")->group(what_to_print);
  app.add_flag("--csv", words.csv, "one row per library")->group(what_to_print);
  app.add_flag("--findings", words.findings, "all that looks wrong, with evidence and advice")
      ->group(what_to_print);
  app.add_option("--explain", words.explain, "what a finding means ('list' names them)")
      ->type_name("CODE")
      ->group(what_to_print);
  app.add_option("-o,--output",
                 words.output,
                 "write there; .html .dot .svg .png .pdf .json .csv choose the form")
      ->type_name("FILE")
      ->group(what_to_print);
  app.add_option("--by", words.by, "rank by these bytes: file, resident or private (file)")
      ->check(one_of({"file", "resident", "private"}))
      ->type_name("BYTES")
      ->group(what_to_print);
  app.add_option("--depth", words.depth, "length of chains drawn (8)")
      ->transform(small_number)
      ->type_name("N")
      ->group(what_to_print);
  app.add_option("--name-depth", words.name_depth, "components of Python names (2, 0 = all)")
      ->transform(small_number)
      ->type_name("N")
      ->group(what_to_print);
  app.add_option("--limit", words.limit, "rows per table (10 and 15, 0 = all)")
      ->transform(small_number)
      ->type_name("N")
      ->group(what_to_print);
  app.add_option("--color", words.color, "auto, always or never")
      ->check(one_of({"auto", "always", "never"}))
      ->type_name("WHEN")
      ->group(what_to_print);
}

void add_how_to_look(CLI::App& app, Words& words) {
  app.add_option(
         "--probe", words.probe, "how Python modules are found: auto, memory, gdb, path, none")
      ->check(one_of({"auto", "memory", "gdb", "path", "none"}))
      ->type_name("PROBE")
      ->group(how);
  app.add_option("--elf", words.elf, "how ELF files are read: auto, native, readelf")
      ->check(one_of({"auto", "native", "readelf"}))
      ->type_name("READER")
      ->group(how);
  app.add_option("--at", words.at, "with --run: look at its exit, when idle, or after SECONDS")
      ->type_name("WHEN")
      ->group(how);
  app.add_flag("--no-follow", words.no_follow, "with --run: leave CMD's children alone")
      ->group(how);
  app.add_option("--timeout", words.timeout, "limit of every step that waits (5)")
      ->check(seconds_between(shortest_time, longest_time))
      ->type_name("SECONDS")
      ->group(how);
}

void add_gates(CLI::App& app, Words& words) {
  app.add_option("--fail-on",
                 words.fail_on,
                 "exit 1 if: finding>=warning, code:dup-openmp, file>500M, resident>200M, libs>60")
      ->type_name("SPEC")
      ->allow_extra_args(false)
      ->group(gates);
  app.add_option("--deny", words.denied, "exit 1 if a library's name or path matches (repeatable)")
      ->type_name("GLOB")
      ->allow_extra_args(false)  // one word each: a TARGET may follow
      ->group(gates);
  add_baseline_options(app, words.baseline, gates);
}

void add_record(CLI::App& app, Words& words) {
  CLI::App* record = app.add_subcommand(
      "record", "write down what a report of PID needs, to be read elsewhere with --from");
  record->add_option("PID", words.record_pid, "the process")->type_name("PID")->required();
  record->add_option("-o,--output", words.record_output, "a .tar.gz, or a folder if it ends in /")
      ->type_name("DEST")
      ->required();
  record->add_option("--probe", words.probe, "as for the report")
      ->check(one_of({"auto", "memory", "gdb", "path", "none"}))
      ->type_name("PROBE");
  record->add_option("--elf", words.elf, "as for the report")
      ->check(one_of({"auto", "native", "readelf"}))
      ->type_name("READER");
  record->add_option("--timeout", words.timeout, "limit of every step that waits (5)")
      ->check(seconds_between(shortest_time, longest_time))
      ->type_name("SECONDS");
  record->add_flag("-v,--verbose", words.verbose, "say what is decided, on stderr");
}

}  // namespace

void define_options(CLI::App& app, Words& words, std::size_t columns) {
  app.formatter(std::make_shared<HelpFormatter>(columns));
  add_what_to_look_at(app, words);
  add_what_to_print(app, words);
  add_question_options(app, words);
  add_how_to_look(app, words);
  add_gates(app, words);
  app.set_help_flag("-h,--help", "this text")->group(other);  // before the commands: they inherit
  app.set_version_flag("--version", "tracso " TRACSO_VERSION, "the version")->group(other);
  app.add_flag("-v,--verbose", words.verbose, "say what is decided, on stderr")->group(other);
  add_record(app, words);
  add_cost_commands(app, words.costs);
  add_dump(app, words.dump);
  add_calls(app, words.calls);
  CLI::App* help = app.add_subcommand("help", "the guide: attribution, findings, exit status, ...");
  help->add_option("TOPIC", words.topic, "a topic, a finding's code or a command; none lists them");
  app.require_subcommand(0, 1);
}

std::string message_name(const CLI::Option& option) {
  return !option.get_lnames().empty()   ? "--" + option.get_lnames().front()
         : !option.get_snames().empty() ? "-" + option.get_snames().front()
                                        : option.get_single_name();
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const auto& name : option->get_lnames()) {
      names.push_back("--" + name);
    }
    for (const auto& name : option->get_snames()) {
      names.push_back("-" + name);
    }
  }
  return names;
}

}  // namespace tracso
