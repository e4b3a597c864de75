#include "commands/request.hpp"

#include "tracso/analysis.hpp"
#include "tracso/findings.hpp"

#include "base/result.hpp"
#include "base/text.hpp"
#include "commands/baseline_file.hpp"
#include "commands/call_prototypes.hpp"
#include "commands/calls_attach.hpp"
#include "commands/calls_engine_attach.hpp"
#include "commands/child_command.hpp"
#include "commands/last_trace.hpp"
#include "commands/output.hpp"
#include "commands/pick.hpp"
#include "commands/record.hpp"
#include "commands/sources.hpp"
#include "commands/status.hpp"
#include "commands/symbol_answers.hpp"
#include "commands/trace_baseline.hpp"
#include "commands/who_command.hpp"
#include "commands/why_not_found.hpp"
#include "os/disk.hpp"
#include "os/live_commands.hpp"
#include "render/words.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tracso {
namespace {

constexpr int status_gate_failed = 1;
constexpr int status_cannot_compare = 2;

void save(const Trace& trace, bool verbose) {
  const auto done = save_last_trace(trace);
  if (!done && verbose) {
    say("the trace was not saved: " + done.error().reason);
  }
}

// html is the one form that a build may lack.
Result<std::unique_ptr<Renderer>> choose_renderer(const OutputOptions& output) {
  auto renderer = make_renderer(output.form == "image" ? "dot" : output.form, output.render);
  if (!renderer) {
    return Error{ErrorKind::missing_tool,
                 "write",
                 output.file.value_or(output.form),
                 "this build has no HTML form: d3 was not at hand when it was built",
                 "-o report.svg draws the graph, --json gives all facts"};
  }
  return renderer;
}

int say_not_found(const WhyAnswer& answer, const Trace& trace, const Summary& summary) {
  fail(why_not_found(answer, trace, summary));
  return status_not_found;
}

bool has_unresolved(const Trace& trace) {
  if (trace.process) {
    return false;
  }
  const auto edges = trace.graph.edges();
  return std::any_of(edges.begin(), edges.end(), [&](const Edge& edge) {
    const ObjectFile* file = object(trace.graph[edge.to]);
    const bool missing = file != nullptr && file->state == ObjectFile::State::missing;
    return (missing && !edge.optional) || !edge.fatal.empty();
  });
}

// Failed gates are said on stderr, so that a document on stdout stays whole.
int status_of_gates(const Trace& trace,
                    const Summary& summary,
                    const TraceRequest& request,
                    const std::optional<Baseline>& baseline) {
  auto failed = failed_gates(trace, summary, request.gates, request.denied);
  if (baseline) {
    const auto more = failed_baseline(trace, summary, *baseline, request.baseline.tolerances);
    if (more.empty()) {
      say(fmt::format("the baseline is kept: nothing grew beyond its tolerance since {}",
                      printable(*request.baseline.compare)));
    }
    failed.insert(failed.end(), more.begin(), more.end());
  }
  for (const std::string& line : failed) {
    say("failed: " + line);
  }
  return failed.empty() ? 0 : status_gate_failed;
}

// A gate that is kept says nothing about CMD: who reads the status only would take a command that
// failed for one that is in order.
void say_command_failed(const Trace& trace, const TraceRequest& request) {
  const bool gated =
      !request.gates.empty() || !request.denied.empty() || request.baseline.compare.has_value();
  if (!gated || !trace.command || !std::holds_alternative<RunSource>(request.source)) {
    return;
  }
  const CommandInfo& command = *trace.command;
  const std::string how = command.signal ? signal_name(*command.signal)
                          : command.exit_status.value_or(0) != 0
                              ? std::to_string(*command.exit_status)
                              : "";
  if (!how.empty() && !command.argv.empty()) {
    say(fmt::format(
        "{} itself ended with {}, which no gate is about: 'tracso stat' has limits, too, "
        "and ends with the status of its command",
        printable(base_name(command.argv.front())),
        how));
  }
}

int status_of(const Trace& trace) {
  if (trace.partial) {
    return status_ended;
  }
  return has_unresolved(trace) ? status_not_found : 0;
}

int answer_why(const Trace& trace,
               const Summary& summary,
               const TraceRequest& request,
               const Renderer& renderer,
               const CommandRunner& commands) {
  const WhyAnswer answer = explain_why(trace, summary, *request.why, request.output.render.depth);
  const bool json = request.output.form == "json";
  if (answer.matches.empty() && !json) {
    return say_not_found(answer, trace, summary);
  }
  const auto text = renderer.why(trace, summary, answer);
  if (!text) {
    return fail(text.error());
  }
  if (const auto done = deliver(*text, request.output, commands); !done) {
    return fail(done.error());
  }
  return answer.matches.empty() ? status_not_found : trace.partial ? status_ended : 0;
}

// Ranking by bytes that nobody measured would rank by nothing.
std::optional<Error> cannot_rank(const Trace& trace, const Summary& summary) {
  const bool known =
      summary.by == ByteKind::file ||
      (summary.by == ByteKind::resident ? summary.totals.resident : summary.totals.private_bytes);
  if (known) {
    return std::nullopt;
  }
  const std::string_view word = summary.by == ByteKind::resident ? "resident" : "private";
  return Error{ErrorKind::usage,
               "rank",
               fmt::format("the libraries of {} by {} bytes", trace.target, word),
               trace.process ? "they are not known of every library" : "nothing runs: it is a file",
               trace.process
                   ? fmt::format("tracso --by {} PID measures them; the notices say why not", word)
                   : "leave --by out; --json has the relocations"};
}

int print(const Trace& trace, const Summary& summary, const TraceRequest& request) {
  const os::LiveCommands commands;
  if (const auto error = cannot_rank(trace, summary)) {
    return fail(*error);
  }
  const auto renderer = choose_renderer(request.output);
  if (!renderer) {
    return fail(renderer.error());
  }
  if (request.why) {
    return answer_why(trace, summary, request, **renderer, commands);
  }
  const auto text = (*renderer)->trace(trace, summary);
  if (!text) {
    return fail(text.error());
  }
  if (const auto done = deliver(*text, request.output, commands); !done) {
    return fail(done.error());
  }
  return status_of(trace);
}

// What could not be seen stands in the report and in the document; the other forms have no place
// for it.
void say_notices(const Trace& trace, const TraceRequest& request) {
  const bool symbols = request.bindings || request.unused;
  const bool report = !request.why && !(symbols && request.output.form != "json") &&
                      (request.output.form == "report" || request.output.form == "json" ||
                       request.output.form == "html");
  for (const auto& notice : trace.notices) {
    if (!report) {
      say(notice.text + (notice.effect.empty() ? "" : "; " + notice.effect));
    }
  }
}

// A list of files has what stands at the paths: not always what is mapped.
void say_files_not_on_disk(const Trace& trace) {
  for (const Node& node : trace.graph.nodes()) {
    const ObjectFile* file = object(node);
    if (file == nullptr || !file->path.text.starts_with('/') ||
        file->path.text.starts_with("/memfd:")) {
      continue;
    }
    const std::string path = printable(file->path.text);
    if (file->state == ObjectFile::State::deleted) {
      say(path + " is deleted; it is mapped and not listed");
    } else if (file->state == ObjectFile::State::replaced) {
      say(path + " was replaced; the file that stands there is listed, and is not the mapped one");
    } else if (file->state == ObjectFile::State::rewritten) {
      say(path + " was written over since it was loaded; it is listed as it is now");
    }
  }
}

// What makes the answer impossible is said before a command has run for it.
std::optional<Error> cannot_answer(const TraceRequest& request) {
  if (const auto renderer = choose_renderer(request.output); !renderer) {
    return renderer.error();
  }
  for (const auto& file : {request.output.file, request.baseline.save}) {
    const auto writable =
        file && *file != "-" ? os::check_output_file(*file) : Result<Done>(Done{});
    if (!writable) {
      return writable.error();
    }
  }
  return std::nullopt;
}

int carry_out_trace(const TraceRequest& request) {
  if (request.output.form == "image" && request.output.file == "-") {
    return fail(
        {ErrorKind::usage, "write", "an image", "stdout is no place for it", "-o graph.svg"});
  }
  if (const auto error = cannot_answer(request)) {
    return fail(*error);
  }
  const auto baseline = read_asked_baseline(request.baseline);
  if (!baseline) {
    fail(baseline.error());
    return status_cannot_compare;
  }
  if (!request.note.empty()) {
    say(request.note);
  }
  std::optional<int> command_status;
  auto obtained = obtain_trace(request, command_status);
  if (!obtained) {
    const int status = fail(obtained.error());
    return command_status.value_or(status);
  }
  if (obtained->trace.findings.empty()) {  // else a document that has its own
    obtained->trace.findings = find_problems(obtained->trace, obtained->facts);
  }
  Trace trace = group_modules(obtained->trace, request.output.name_depth);
  const Summary summary = summarize(trace, request.output.by);
  if (obtained->facts.symbols && trace.process) {  // all findings are asked for
    const std::vector<Finding> described = descriptions(trace, summary);
    trace.findings.insert(trace.findings.end(), described.begin(), described.end());
  }
  trace.notices.insert(trace.notices.end(), summary.notices.begin(), summary.notices.end());
  if (*baseline) {
    add_baseline_notices(**baseline, trace.notices);
  }
  say_notices(trace, request);
  if (request.output.form.starts_with("files")) {
    say_files_not_on_disk(trace);
  }
  const bool symbols = request.bindings || request.unused;
  const int status = symbols ? answer_symbols(trace, summary, obtained->facts, request)
                             : print(trace, summary, request);
  if (obtained->save) {  // behind the answer: nobody waits for it
    save(obtained->trace, request.verbose);
  }
  int gates = status_of_gates(trace, summary, request, *baseline);
  if (gates == 0) {
    say_command_failed(trace, request);
  }
  if (const auto done = save_asked_baseline(trace, summary, request.baseline); !done) {
    gates = fail(done.error());
  }
  const int calls = obtained->calls == CallWindow::refused ? status_refused
                    : obtained->calls == CallWindow::ended ? exit_status(ErrorKind::interrupted)
                                                           : 0;
  return status != 0  ? status
         : calls != 0 ? calls
         : gates != 0 ? gates
                      : command_status.value_or(0);
}

int carry_out_choice(const PickSource& pick, TraceRequest request) {
  // What would be refused afterwards is refused before anybody has chosen.
  if (const auto error = cannot_answer(request)) {
    return fail(*error);
  }
  const auto chosen = pick_process(pick, request);
  if (const int* status = std::get_if<int>(&chosen)) {
    return *status;
  }
  request.source = std::get<PidSource>(chosen);
  return carry_out_trace(request);
}

}  // namespace

int carry_out(const Request& request) {
  if (const auto* what = std::get_if<RecordRequest>(&request)) {
    return record(*what);
  }
  if (const auto* what = std::get_if<WhoRequest>(&request)) {
    return answer_who(*what);
  }
  if (const auto* what = std::get_if<ChildRequest>(&request)) {
    return answer_as_child(*what);
  }
  if (const auto* what = std::get_if<DumpRequest>(&request)) {
    return dump(*what);
  }
  if (const auto* what = std::get_if<CallsRequest>(&request)) {
    const auto ready = with_prototypes(*what);
    if (!ready) {
      return fail(ready.error());
    }
    return ready->processes.empty() ? calls_of_command(*ready)
           : ready->system_calls    ? system_calls_of_process(*ready)
                                    : calls_of_processes(*ready);
  }
  const auto& asked = std::get<TraceRequest>(request);
  if (const auto* pick = std::get_if<PickSource>(&asked.source)) {
    return carry_out_choice(*pick, asked);
  }
  return carry_out_trace(asked);
}

int status_of_start(const Error& error) {
  return error.kind == ErrorKind::not_found ? 127
         : error.kind == ErrorKind::denied  ? 126
                                            : exit_status(error.kind);
}

int exit_status(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::not_found:
    case ErrorKind::interrupted:
      return 3;
    case ErrorKind::denied:
      return 4;
    case ErrorKind::missing_tool:
      return 5;
    case ErrorKind::malformed:
    case ErrorKind::unsupported:
      return 6;
    case ErrorKind::usage:
    case ErrorKind::failed:
    case ErrorKind::internal:
      break;
  }
  return 2;
}

}  // namespace tracso
