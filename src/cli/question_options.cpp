#include "cli/question_options.hpp"

#include "cli/leave.hpp"
#include "cli/output_forms.hpp"
#include "cli/values.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

namespace tracso {
namespace {

// What CLI11 puts in where no "=NAME" was given.
constexpr std::string_view everything = "*";

int count(const Words& words) {
  return (words.bindings.empty() ? 0 : 1) + words.unused + words.files + words.files0 +
         (words.who.empty() ? 0 : 1) + (words.as_child.empty() ? 0 : 1);
}

// Calls are counted in a process, and only a list of libraries has a place for them.
std::optional<std::pair<std::string, std::string>> wrong_count(const Words& words) {
  const bool is_pid =
      !words.target.empty() && words.target.find_first_not_of("0123456789") == std::string::npos;
  const bool picks = words.pick || words.pick_python || !words.pick_mode.empty();
  if (!is_pid && !picks) {
    return std::pair<std::string, std::string>("--calls is about a running process",
                                               "tracso 4192 --calls 5; of a command: tracso calls");
  }
  constexpr std::array pictures{"dot", "gv", "svg", "png", "pdf", "html"};
  const bool is_picture =
      !words.json && !words.csv &&
      std::find(pictures.begin(), pictures.end(), form_extension(words.output)) != pictures.end();
  if (asks_question(words) || !words.why.empty() || words.tree || words.findings || is_picture) {
    return std::pair<std::string, std::string>(
        "that answer has no place for what --calls counts",
        "the report, --json and --csv have; 'tracso calls -p PID' shows which functions");
  }
  return std::nullopt;
}

}  // namespace

void add_question_options(CLI::App& app, Words& words) {
  app.add_flag("--bindings{*}",
               words.bindings,
               "whose functions are called, interposed ones first; =NAME: of a library or function")
      ->group(what_to_print);
  app.add_flag("--unused", words.unused, "libraries of which nothing has been called so far")
      ->group(what_to_print);
  app.add_option("--calls",
                 words.count_calls,
                 "attach to the process, count calls between libraries for so long, and say in the "
                 "report, --json or --csv which are used")
      ->check(seconds_between(shortest_time, longest_time))
      ->type_name("SECONDS")
      ->group(what_to_print);
  app.add_flag("--files", words.files, "the files mapped as code, one a line")
      ->group(what_to_print);
  app.add_flag("--files0", words.files0, "the same, ended by NUL (rsync -0)")->group(what_to_print);
  app.add_option("--who", words.who, "every process that has a library: a soname, a family")
      ->type_name("NAME")
      ->group(what_to_print);
  app.add_option("--as-child",
                 words.as_child,
                 "what PROG would load if the process started it (repeatable)")
      ->type_name("PROG")
      ->allow_extra_args(false)
      ->group(what_to_print);
}

bool asks_question(const Words& words) {
  return count(words) > 0;
}

std::string question_name(const Words& words) {
  return !words.bindings.empty()   ? "--bindings"
         : words.unused            ? "--unused"
         : words.files             ? "--files"
         : words.files0            ? "--files0"
         : !words.who.empty()      ? "--who"
         : !words.as_child.empty() ? "--as-child"
                                   : "";
}

std::optional<std::pair<std::string, std::string>> wrong_question(const Words& words) {
  if (count(words) > 1) {
    return std::pair<std::string, std::string>(
        "--bindings, --unused, --files, --files0, --who and --as-child exclude each other",
        "ask one thing at a time");
  }
  if (auto wrong = words.count_calls ? wrong_count(words) : std::nullopt) {
    return wrong;
  }
  if (!asks_question(words)) {
    return std::nullopt;
  }
  const bool list = words.files || words.files0;
  if (!words.why.empty() || words.tree || words.csv || words.findings || (list && words.json)) {
    return std::pair<std::string, std::string>(
        "that answer has no such form",
        list ? "--json has the paths too" : "use --json, or no form for text");
  }
  const bool has_target = !words.target.empty() || words.has_run || !words.from.empty() ||
                          words.pick || words.pick_python || !words.pick_mode.empty();
  if (!words.who.empty() && has_target) {
    return std::pair<std::string, std::string>("--who looks at all processes",
                                               "leave the target out");
  }
  // Gates and children are of the trace of one target, which neither of the two has.
  if (!words.who.empty() || !words.as_child.empty()) {
    const std::string asked = question_name(words);
    const std::string beside = !words.fail_on.empty()  ? "--fail-on"
                               : !words.denied.empty() ? "--deny"
                               : words.children        ? "--children"
                                                       : "";
    if (!beside.empty()) {
      return std::pair(fmt::format("{} and {} do not go together", asked, beside),
                       fmt::format("{} goes with a report: tracso {} ... PID", beside, beside));
    }
  }
  const bool is_pid =
      !words.target.empty() && words.target.find_first_not_of("0123456789") == std::string::npos;
  if (!words.as_child.empty() && (!is_pid || words.has_run)) {
    return std::pair<std::string, std::string>("--as-child needs a PID",
                                               "tracso --as-child /bin/sh 4192");
  }
  return std::nullopt;
}

std::string question_form(const Words& words) {
  return words.files ? "files" : words.files0 ? "files0" : "";
}

std::optional<Request> other_request(const Words& words,
                                     const TraceSource& source,
                                     const OutputOptions& output,
                                     std::chrono::milliseconds timeout) {
  if (!words.who.empty()) {
    return WhoRequest{words.who, output};
  }
  const auto* process = std::get_if<PidSource>(&source);
  if (words.as_child.empty() || process == nullptr) {
    return std::nullopt;
  }
  return ChildRequest{process->pid, words.as_child, words.elf, timeout, output};
}

void apply_questions(const Words& words, TraceRequest& request) {
  if (!words.bindings.empty()) {
    request.bindings = words.bindings == everything ? "" : words.bindings;
  }
  request.unused = words.unused;
  if (words.count_calls) {
    request.calls = std::chrono::milliseconds(std::llround(*words.count_calls * 1000));
  }
}

}  // namespace tracso
