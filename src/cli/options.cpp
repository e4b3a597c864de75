#include "cli/options.hpp"

#include "base/text.hpp"
#include "cli/calls_options.hpp"
#include "cli/complete.hpp"
#include "cli/definition.hpp"
#include "cli/help.hpp"
#include "cli/leave.hpp"
#include "cli/output_forms.hpp"
#include "cli/question_options.hpp"
#include "cli/slips.hpp"
#include "cli/terminal.hpp"
#include "cli/values.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

namespace tracso {
namespace {

ColorChoice color_choice(const std::string& word) {
  return word == "always"  ? ColorChoice::always
         : word == "never" ? ColorChoice::never
                           : ColorChoice::automatic;
}

void set_form_by_extension(const std::string& path, OutputOptions& output) {
  const std::string extension = form_extension(path);
  if (extension == "dot" || extension == "gv") {
    output.form = "dot";
  } else if (extension == "svg" || extension == "png" || extension == "pdf") {
    output.form = "image";
    output.image = extension;
  } else if (extension == "json" || extension == "csv" || extension == "html") {
    output.form = extension;
  }
}

// As the table of forms names it.
std::string answer_name(const Words& words) {
  const std::string question = question_name(words);
  return words.json          ? "--json"
         : words.csv         ? "--csv"
         : words.tree        ? "--tree"
         : words.findings    ? "--findings"
         : !question.empty() ? question
         : words.why.empty() ? "the report"
                             : "--why";
}

std::variant<OutputOptions, Leave> output_options(const Words& words) {
  OutputOptions output;
  if (words.tree + words.json + words.csv + words.findings > 1) {
    return usage("--tree, --json, --csv and --findings exclude each other", "choose one");
  }
  if (auto leave = wrong_form(answer_name(words), words.output)) {
    return *leave;
  }
  if (!words.output.empty()) {
    output.file = words.output;
    set_form_by_extension(words.output, output);
  }
  output.form = words.tree       ? "tree"
                : words.json     ? "json"
                : words.csv      ? "csv"
                : words.findings ? "findings"
                                 : output.form;
  if (const std::string form = question_form(words); !form.empty()) {
    output.form = form;
  }
  if (!words.why.empty() && (output.form == "csv" || output.form == "findings")) {
    return usage("--why and --" + output.form + " do not go together",
                 "use --json, or no form for text");
  }
  const Terminal terminal = look_at_terminal(color_choice(words.color));
  const bool to_file = output.file && *output.file != "-";
  output.render.color = terminal.color && (!to_file || words.color == "always");
  output.render.unicode = terminal.unicode;
  output.render.width = to_file ? 0 : terminal.width;
  output.render.depth = words.depth;
  if (words.limit) {
    output.render.limit_packages = output.render.limit_libraries = output.render.limit_orphans =
        *words.limit;
  }
  output.name_depth = words.name_depth;
  output.by = words.by == "resident"  ? ByteKind::resident
              : words.by == "private" ? ByteKind::private_bytes
                                      : ByteKind::file;
  // The columns fit beside the others without moving them.
  constexpr std::size_t wide = 110;
  output.render.costs =
      output.form == "report" && (output.by != ByteKind::file || output.render.width > wide);
  return output;
}

bool all_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::variant<std::int32_t, Leave> parse_pid(const std::string& text) {
  const auto pid = parse_unsigned(text);
  if (!all_digits(text) || !pid || *pid == 0 || *pid > INT32_MAX) {
    return usage(fmt::format("'{}' is not a process number", printable(text)),
                 "a number as 'ps' prints it; a file of that name is ./" + printable(text));
  }
  return static_cast<std::int32_t>(*pid);
}

std::variant<RunSource, Leave> run_source(const Words& words) {
  RunSource run;
  run.argv = words.run;
  run.follow = !words.no_follow;
  if (words.at == "idle") {
    run.at = RunSource::Moment::idle;
  } else if (!words.at.empty() && words.at != "exit") {
    const auto seconds = parse_decimal(words.at);
    if (!seconds || *seconds > 1e7) {
      return usage(fmt::format("--at '{}' is neither exit, idle nor a number of seconds",
                               printable(words.at)),
                   "tracso --at 2.5 --run CMD");
    }
    run.at = RunSource::Moment::seconds;
    run.after = std::chrono::milliseconds(static_cast<std::int64_t>(*seconds * 1000));
  }
  return run;
}

bool picks(const Words& words) {
  return words.pick || words.pick_python || !words.pick_mode.empty();
}

PickSource pick_source(const Words& words) {
  PickSource pick;
  pick.mode = words.pick_mode == "curses"  ? PickSource::Mode::curses
              : words.pick_mode == "plain" ? PickSource::Mode::plain
                                           : PickSource::Mode::textual;
  pick.python_only = words.pick_python;
  pick.color = look_at_terminal(color_choice(words.color)).color_on_screen;
  return pick;
}

std::variant<TraceSource, Leave> trace_source(const Words& words) {
  const int given = (words.target.empty() ? 0 : 1) + (words.has_run ? 1 : 0) +
                    (words.from.empty() ? 0 : 1) + (picks(words) ? 1 : 0);
  if (given > 1) {
    return usage("a TARGET, --run, --from and --pick exclude each other",
                 "give one thing to look at");
  }
  if (!words.root.empty() && (words.target.empty() || all_digits(words.target))) {
    return usage("--root goes with a FILE", "tracso --root DIR /usr/bin/python3");
  }
  if (words.has_run) {
    const auto run = run_source(words);
    return std::holds_alternative<Leave>(run)
               ? std::variant<TraceSource, Leave>(std::get<Leave>(run))
               : TraceSource(std::get<RunSource>(run));
  }
  if (words.no_follow) {
    return usage("--no-follow goes with --run", "tracso --no-follow --run CMD");
  }
  if (!words.at.empty()) {
    return usage("--at goes with --run", "tracso --at idle --run CMD");
  }
  if (!words.from.empty()) {
    return TraceSource(SavedSource{words.from});
  }
  if (picks(words)) {
    return TraceSource(pick_source(words));
  }
  if (all_digits(words.target)) {
    const auto pid = parse_pid(words.target);
    return std::holds_alternative<Leave>(pid)
               ? std::variant<TraceSource, Leave>(std::get<Leave>(pid))
               : TraceSource(PidSource{std::get<std::int32_t>(pid)});
  }
  if (!words.target.empty()) {
    return TraceSource(
        FileSource{words.target, words.root.empty() ? std::nullopt : std::optional(words.root)});
  }
  return TraceSource(LastSource{});
}

std::chrono::milliseconds parse_timeout(const Words& words) {
  return seconds_word(words.timeout).value_or(std::chrono::milliseconds(1));
}

std::variant<Request, Leave> record_request(const Words& words) {
  if (auto leave = wrong_form("record", words.record_output)) {
    return *leave;
  }
  const auto pid = parse_pid(words.record_pid);
  if (std::holds_alternative<Leave>(pid)) {
    return std::get<Leave>(pid);
  }
  RecordRequest request;
  request.pid = std::get<std::int32_t>(pid);
  request.destination = words.record_output;
  request.probe = words.probe;
  request.elf = words.elf;
  request.verbose = words.verbose;
  request.timeout = parse_timeout(words);
  return request;
}

std::optional<std::string> given(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

bool measures_memory(const Gate& gate) {
  return gate.what == Gate::What::resident || gate.what == Gate::What::private_bytes;
}

std::variant<Request, Leave> trace_request(const Words& words, const CLI::App& app) {
  const Terminal terminal = look_at_terminal(color_choice(words.color));
  if (!words.explain.empty()) {
    if (auto leave = beside_explain(app, words)) {
      return *leave;
    }
    return explain_finding(words.explain, terminal.width, terminal.color);
  }
  if (const auto wrong = wrong_question(words)) {
    return usage(wrong->first, wrong->second);
  }
  auto source = trace_source(words);
  if (std::holds_alternative<Leave>(source)) {
    return std::get<Leave>(source);
  }
  auto output = output_options(words);
  if (std::holds_alternative<Leave>(output)) {
    return std::get<Leave>(output);
  }
  if (auto question = other_request(words,
                                    std::get<TraceSource>(source),
                                    std::get<OutputOptions>(output),
                                    parse_timeout(words))) {
    return *std::move(question);
  }
  TraceRequest request;
  request.source = std::get<TraceSource>(std::move(source));
  request.output = std::get<OutputOptions>(std::move(output));
  const bool asks = !words.why.empty() || words.tree || words.json || words.csv || words.findings ||
                    !words.output.empty() || asks_question(words) || !words.fail_on.empty() ||
                    !words.denied.empty() || words.baseline.any();
  if (std::holds_alternative<LastSource>(request.source) && !asks) {
    if (!look_at_terminal(ColorChoice::automatic).person) {
      return Leave{2, "", app.help()};
    }
    request.source = pick_source(words);
  }
  request.denied = words.denied;
  if (!words.fail_on.empty()) {
    auto found = parse_gates(join(words.fail_on, ","));
    if (!found) {
      return usage(
          fmt::format("--fail-on '{}': {}", printable(found.error().subject), found.error().reason),
          found.error().hint);
    }
    request.gates = std::move(*found);
  }
  if (auto leave = read_tolerances(words.baseline, request.baseline.tolerances)) {
    return *std::move(leave);
  }
  request.baseline.save = given(words.baseline.save);
  request.baseline.compare = given(words.baseline.compare);
  if (!asks) {
    request.note = swallowed_options(app, words);
  }
  request.why = given(words.why);
  apply_questions(words, request);
  request.probe = words.probe;
  request.elf = words.elf;
  request.children = words.children;
  const std::string& form = request.output.form;
  request.costs = request.output.by != ByteKind::file || request.output.render.costs ||
                  ((form == "json" || form == "csv") && !request.why) || form == "html" ||
                  words.baseline.any() ||
                  std::any_of(request.gates.begin(), request.gates.end(), measures_memory);
  request.relocations = (form == "json" && !request.why) || form == "html";
  request.verbose = words.verbose;
  request.timeout = parse_timeout(words);
  request.timeout_hint = "a larger --timeout SECONDS waits longer";
  return request;
}

// Of the root and of all commands.
std::vector<std::string> all_names(const CLI::App& app) {
  auto names = option_names(app);
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    const auto more = option_names(*command);
    names.insert(names.end(), more.begin(), more.end());
  }
  return names;
}

}  // namespace

std::variant<Request, Leave> parse_options(const std::vector<std::string>& all) {
  if (!all.empty() && all.front() == "calls") {
    return parse_calls_options({all.begin() + 1, all.end()});
  }
  Words words;
  std::vector<std::string> ours;
  split_run(all, ours, words);
  CLI::App app(
      "Explain the shared objects of a process: what is loaded, from where, and who caused it.",
      "tracso");
  define_options(app, words, look_at_terminal(ColorChoice::automatic).width);
  if (!all.empty() && all.front() == "__complete") {
    const std::vector<std::string> typed(all.begin() + 1, all.end());
    return Leave{0, complete(app, typed, {process_candidates, soname_candidates}), ""};
  }
  if (auto leave = empty_behind_sign(ours, all_names(app))) {
    return *std::move(leave);
  }
  try {
    std::vector<std::string> reversed(ours.rbegin(), ours.rend());
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    const auto subcommands = app.get_subcommands();
    return Leave{0, subcommands.empty() ? app.help() : subcommands.front()->help(), ""};
  } catch (const CLI::CallForVersion& version) {
    return Leave{0, std::string(version.what()) + "\n", ""};
  } catch (const CLI::ParseError& error) {
    return explain_parse_error(app, error, ours);
  }
  if (auto leave = empty_word(app)) {
    return *leave;
  }
  if (auto leave = misplaced_option(app, words)) {
    return *leave;
  }
  if (app.got_subcommand("help")) {
    const Terminal terminal = look_at_terminal(ColorChoice::automatic);
    return help_on(app, words.topic, terminal.width, terminal.color);
  }
  if (auto leave = app.got_subcommand("calls") ? std::nullopt : stray_before_command(app)) {
    return *leave;
  }
  if (app.got_subcommand("record")) {
    return record_request(words);
  }
  if (app.got_subcommand("calls")) {
    return usage("calls comes first, then its options", "tracso calls --exact CMD");
  }
  if (app.got_subcommand("dump")) {
    if (auto leave = wrong_form(words.dump.json ? "dump --json" : "dump", words.dump.output)) {
      return *leave;
    }
    const auto request = dump_request(words.dump);
    const auto* wrong = std::get_if<1>(&request);
    return wrong != nullptr ? std::variant<Request, Leave>(usage(wrong->first, wrong->second))
                            : Request(std::get<0>(request));
  }
  if (auto leave = mistaken_command(app, words)) {
    return *leave;
  }
  return trace_request(words, app);
}

std::vector<std::string> known_options() {
  Words words;
  CLI::App app("", "tracso");
  define_options(app, words);
  auto names = all_names(app);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace tracso
