#include "cli/diff_options.hpp"

#include "base/text.hpp"
#include "cli/values.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace tracso {
namespace {

constexpr const char* verbose_help = "say what is decided, on stderr";

}  // namespace

void add_fds(CLI::App& app, FdsWords& words) {
  CLI::App* fds = app.add_subcommand(
      "fds", "every open descriptor of PID, what it is and who has the other end");
  fds->add_option("PID", words.pid, "the process")->required();
  fds->add_flag("--queues", words.queues, "bytes that wait in pipes and sockets");
  fds->add_option(
         "--rate", words.rate, "bytes per second over that time, where the kernel counts them")
      ->check(seconds_between(shortest_time, longest_time))
      ->type_name("SECONDS");
  fds->add_flag("--csv", words.csv, "one row per descriptor");
  fds->add_flag("-v,--verbose", words.verbose, verbose_help);
  add_answer_options(*fds, words.answer);
}

void add_diff(CLI::App& app, DiffWords& words) {
  CLI::App* diff = app.add_subcommand(
      "diff", "what is different between two saved documents or recordings, or one and a PID");
  diff->add_option("OLD", words.before, "a --json document, a recording, or a PID")->required();
  diff->add_option("NEW", words.after, "the same")->required();
  diff->add_option("--fail-on",
                   words.fail_on,
                   "exit 1 if that is new: finding>=warning, file>5M (growth), libs>0 (added)")
      ->type_name("SPEC")
      ->allow_extra_args(false);
  diff->add_flag("-v,--verbose", words.verbose, verbose_help);
  add_answer_options(*diff, words.answer);
}

void add_watch(CLI::App& app, WatchWords& words) {
  CLI::App* watch =
      app.add_subcommand("watch", "follow PID: full screen on a terminal, JSON Lines elsewhere");
  watch->add_option("PID", words.pid, "the process")->required();
  watch->add_option("--interval", words.interval, "between two looks (1)")
      ->check(seconds_between(0.01, longest_time))
      ->type_name("SECONDS");
  watch->add_option("--for", words.watch_for, "end after that time")
      ->check(seconds_between(shortest_time, longest_time))
      ->type_name("SECONDS");
  watch->add_flag("--children", words.children, "its descendants' memory too");
  watch
      ->add_option(
          "--stream", words.stream, "JSON Lines also to: FILE, -, tcp://host:port, unix:/path")
      ->type_name("DEST");
  watch
      ->add_option(
          "--stream-format", words.stream_format, "jsonl, json (one array) or text (jsonl)")
      ->check(one_of({"jsonl", "json", "text"}))
      ->type_name("FORMAT");
  watch->add_flag("-v,--verbose", words.verbose, verbose_help);
  add_answer_options(*watch, words.answer);
}

std::variant<CostRequest, Leave> fds_request(const FdsWords& words) {
  const auto pid = pid_word(words.pid);
  if (std::holds_alternative<Leave>(pid)) {
    return std::get<Leave>(pid);
  }
  if (words.csv && words.answer.json) {
    return usage_error("--json and --csv exclude each other", "choose one");
  }
  FdsRequest request;
  request.pid = std::get<std::int32_t>(pid);
  request.queues = words.queues;
  request.verbose = words.verbose;
  request.rate_over = seconds_word(words.rate);
  request.csv = words.csv || lower_case(words.answer.output).ends_with(".csv");
  request.output = answer_output(words.answer);
  request.output.render.limit_libraries = words.answer.limit.value_or(0);  // a list is whole
  return CostRequest(request);
}

std::variant<CostRequest, Leave> diff_request(const DiffWords& words) {
  for (const std::string& word : {words.before, words.after}) {
    if (word.find_first_not_of("0123456789") == std::string::npos) {
      if (const auto pid = pid_word(word); std::holds_alternative<Leave>(pid)) {
        return std::get<Leave>(pid);
      }
    }
  }
  DiffRequest request;
  request.before = words.before;
  request.after = words.after;
  request.verbose = words.verbose;
  request.output = answer_output(words.answer);
  if (!words.fail_on.empty()) {
    auto gates = parse_gates(join(words.fail_on, ","));
    if (!gates) {
      return usage_error(
          fmt::format("--fail-on '{}': {}", printable(gates.error().subject), gates.error().reason),
          gates.error().hint);
    }
    request.gates = std::move(*gates);
  }
  return CostRequest(request);
}

std::variant<CostRequest, Leave> watch_request(const WatchWords& words) {
  const auto pid = pid_word(words.pid);
  if (std::holds_alternative<Leave>(pid)) {
    return std::get<Leave>(pid);
  }
  WatchRequest request;
  request.pid = std::get<std::int32_t>(pid);
  request.interval = seconds_word(words.interval).value_or(request.interval);
  request.watch_for = seconds_word(words.watch_for);
  if (!words.stream_format.empty() && words.stream.empty()) {
    return usage_error("--stream-format goes with --stream DEST",
                       "standard output has JSON Lines: tracso watch 4192 --stream log.txt");
  }
  request.stream_format = words.stream_format == "json"   ? StreamFormat::json
                          : words.stream_format == "text" ? StreamFormat::text
                                                          : StreamFormat::jsonl;
  request.children = words.children;
  request.verbose = words.verbose;
  request.lines = words.answer.json;
  request.stream = words.stream.empty() ? std::nullopt : std::optional(words.stream);
  request.output = answer_output(words.answer);
  return CostRequest(request);
}

}  // namespace tracso
