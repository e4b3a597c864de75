#include "commands/sources.hpp"

#include "tracso/loader_variables.hpp"
#include "tracso/snapshot.hpp"

#include "base/text.hpp"
#include "collect/importers.hpp"
#include "commands/calls_window.hpp"
#include "commands/last_trace.hpp"
#include "commands/output.hpp"
#include "commands/progress.hpp"
#include "commands/python.hpp"
#include "commands/run.hpp"
#include "commands/system_tree.hpp"
#include "graph/trace_json.hpp"
#include "os/archive.hpp"
#include "os/disk.hpp"
#include "os/live_commands.hpp"
#include "os/live_files.hpp"
#include "os/live_process.hpp"
#include "os/privileges.hpp"
#include "os/recording.hpp"
#include "os/secure_start.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdlib>

namespace tracso {
namespace {

std::string own_working_directory() {
  char* path = ::getcwd(nullptr, 0);
  std::string directory = path == nullptr ? "/" : path;
  std::free(path);  // NOLINT(cppcoreguidelines-no-malloc): getcwd's own allocation
  return directory;
}

std::vector<std::pair<std::string, std::string>> own_loader_variables() {
  std::vector<std::pair<std::string, std::string>> variables;
  for (const char* name : loader_variables) {
    if (const char* value = std::getenv(name)) {  // NOLINT(concurrency-mt-unsafe): nobody sets it
      variables.emplace_back(name, value);
    }
  }
  return variables;
}

// What stands in files beside the modules is read for the forms that show it; a plain report does
// without. After --run those files may be gone.
bool shows_importers(const TraceRequest& request) {
  return request.why || request.output.form == "json" || request.output.form == "html" ||
         std::holds_alternative<RunSource>(request.source);
}

bool asks_for_findings(const Gate& gate) {
  return gate.what == Gate::What::severity || gate.what == Gate::What::code;
}

bool shows_distributions(const TraceRequest& request) {
  return shows_importers(request) || request.output.form == "tree";
}

// Symbol tables of all objects cost more than all the rest: only who asks pays.
SymbolDepth symbol_depth(const TraceRequest& request) {
  const bool findings = request.output.form == "json" || request.output.form == "findings" ||
                        std::any_of(request.gates.begin(), request.gates.end(), asks_for_findings);
  return request.bindings || request.unused ? SymbolDepth::all
         : findings && !request.why         ? SymbolDepth::problems
                                            : SymbolDepth::none;
}

LookOptions look_options(const TraceRequest& request) {
  return {request.probe,
          request.elf,
          request.timeout,
          request.verbose,
          request.children,
          request.why.has_value(),
          request.costs,
          request.relocations,
          shows_distributions(request),
          shows_importers(request),
          {true, symbol_depth(request), false},
          Tracer::not_us,
          {}};
}

std::function<void(std::string)> logger(bool verbose) {
  return verbose ? [](const std::string& line) { say(line); } : std::function<void(std::string)>();
}

Result<Trace> explain(const FileSource& source, const TraceRequest& request, ProblemFacts& facts) {
  std::unique_ptr<FileSystem> files;
  FileQuestion question;
  question.file.text = source.path;
  question.label = base_name(source.path);
  if (source.root) {
    auto root = os::open_root(*source.root);
    if (!root) {
      Error error = root.error();
      error.kind = error.kind == ErrorKind::not_found ? ErrorKind::usage : error.kind;
      error.hint = "DIR is what is / there: tracso --root /mnt/image /usr/bin/python3";
      return error;
    }
    files = std::move(*root);
  } else {
    question.working_directory = own_working_directory();
    question.environment = own_loader_variables();
    files = std::make_unique<os::LiveFiles>(question.working_directory);
  }
  question.secure_because = os::secure_start(*files, question.file);
  const os::LiveCommands commands;
  SnapshotOptions options;
  options.elf = request.elf;
  options.timeout = request.timeout;
  options.relocations = request.relocations;
  options.log = logger(request.verbose);
  auto trace = explain_file({nullptr, files.get(), &commands}, question, options);
  if (!trace && source.root) {
    return inside_tree(trace.error(), *source.root, source.path, *files);
  }
  if (trace && symbol_depth(request) != SymbolDepth::none) {
    collect_file_facts(*files, *trace, facts);
  }
  return trace;
}

Result<Trace> replay_trace(const os::Recording& recording,
                           const TraceRequest& request,
                           ProblemFacts& facts) {
  const auto doors = os::replay(recording);
  SnapshotOptions options;
  options.cpu = recording.cpu;
  options.elf = request.elf;
  options.costs = request.costs;
  options.relocations = request.relocations;
  options.distributions = shows_distributions(request);
  options.importers = shows_importers(request);
  options.module_files = recording.module_files;
  options.python_pools = recording.python_pools;
  options.log = logger(request.verbose);
  options.python = [&](const ProbeInput&, std::vector<Notice>& notices) {
    for (const auto& notice : recording.python_notices) {
      if (notice.size() == 4) {
        notices.push_back({notice[0], notice[1], notice[2], notice[3]});
      }
    }
    return recording.python;
  };
  auto trace = take_snapshot({doors.process.get(), doors.files.get(), doors.commands.get()},
                             options,
                             {true, symbol_depth(request), true},
                             facts);
  if (trace && trace->memory && recording.python && !recording.python_pools) {
    trace->notices.push_back(
        {"python-memory-unknown",
         "it is a recording of an older version, which kept nothing of the heap",
         "what of it is Python's own counts as heap or other memory",
         "tracso --json PID tells them apart"});
  }
  return trace;
}

bool looks_like_document(const std::string& text) {
  const auto start = trim(std::string_view(text).substr(0, 200));
  return start.starts_with('{');
}

Error as_question(Error error, const std::string& path) {
  error.subject = path == "-" ? "standard input" : path;
  error.kind = error.kind == ErrorKind::not_found ? ErrorKind::usage : error.kind;
  if (error.kind == ErrorKind::failed && !error.hint.empty()) {
    return error;  // a limit, which says what to do about it
  }
  error.hint = "a document of 'tracso --json' or a recording of 'tracso record' is wanted";
  return error;
}

// A document, plain or packed by gzip, or a recording: told apart by what they hold.
Result<Trace> read_saved(const std::string& path,
                         const TraceRequest& request,
                         ProblemFacts& facts) {
  auto bytes = os::read_input(path, request.timeout, request.timeout_hint);
  if (!bytes && bytes.error().reason == "is a directory") {
    const auto recording = os::read_recording(path);
    return recording ? replay_trace(*recording, request, facts)
                     : as_question(recording.error(), path);
  }
  if (!bytes) {
    return as_question(bytes.error(), path);
  }
  const bool packed = os::is_gzip(*bytes);
  const auto text = packed ? os::decompress(*bytes) : std::move(bytes);
  if (!text) {
    return as_question(text.error(), path);
  }
  if (looks_like_document(*text)) {
    return read_trace_json(*text, path == "-" ? "standard input" : path);
  }
  if (!packed) {
    return as_question({ErrorKind::malformed, "read", path, "it is neither JSON nor gzip", ""},
                       path);
  }
  const auto parts = os::open_tar(*text);
  const auto recording =
      parts ? os::unpack_recording(*parts) : Result<os::Recording>(parts.error());
  return recording ? replay_trace(*recording, request, facts)
                   : as_question(recording.error(), path);
}

Result<Obtained> from_process(std::int32_t pid, const TraceRequest& request) {
  const auto live = LiveTarget::open(pid);
  if (!live) {
    return live.error();
  }
  std::optional<Progress> progress;
  if (!request.verbose) {  // its lines would be written over
    progress.emplace(fmt::format("reading process {}", pid));
  }
  Obtained obtained;
  auto trace = look_at_process(*live, look_options(request), "", obtained.facts);
  if (!trace) {
    return trace.error();
  }
  obtained.trace = std::move(*trace);
  obtained.save = true;
  progress.reset();
  if (request.calls) {
    obtained.calls = count_calls(live.value(), *request.calls, obtained.trace);
  }
  return obtained;
}

// The last trace may be of a plain report, which did without.
void complete_modules(Trace& trace, const TraceRequest& request) {
  if (!trace.process || !shows_distributions(request) || has_module_files(trace)) {
    return;
  }
  const auto pid = trace.process->pid;
  const auto live = LiveTarget::open(pid);
  if (!live || !is_process_of(trace, *live->target().process)) {
    trace.notices.push_back(
        {"module-files-unread",
         fmt::format("process {} has ended before it was asked who imported its "
                     "Python modules and what they belong to",
                     pid),
         "importers and distributions are missing",
         "tracso PID --why NAME asks while the process runs"});
    return;
  }
  add_distributions(trace, *live->target().files, std::nullopt);
  if (shows_importers(request)) {
    add_importers(trace, *live->target().files, std::nullopt);
  }
}

// How to ask for the findings of what a trace is of once more: of what still runs, or can be run.
std::string findings_again(const Trace& trace) {
  if (!trace.process) {
    return "tracso --findings " + trace.interpreter;
  }
  const auto live = LiveTarget::open(trace.process->pid);
  if (live && is_process_of(trace, *live->target().process)) {
    return fmt::format("tracso --findings {}", trace.process->pid);
  }
  return trace.command
             ? "tracso --findings --run CMD"
             : fmt::format("tracso --findings PID (process {} has ended)", trace.process->pid);
}

// What a plain report found, found without symbol tables.
void note_plain_findings(Trace& trace) {
  const std::string again = findings_again(trace);
  trace.notices.push_back(
      {"findings-of-report",
       "these findings may be those of a plain report, which reads no symbol tables",
       "crossed and undefined symbols and unused libraries may be missing: " + again,
       again});
}

Result<Obtained> from_last(const TraceRequest& request) {
  auto trace = load_last_trace();
  if (!trace) {
    return trace.error();
  }
  say(fmt::format("from the last trace, {}", trace->target));
  if (request.output.form == "findings") {
    note_plain_findings(*trace);
  }
  complete_modules(*trace, request);
  return Obtained{std::move(*trace), {}, false};
}

Result<Obtained> obtained(Result<Trace> trace, ProblemFacts facts, bool save) {
  return trace ? Result<Obtained>(Obtained{std::move(*trace), std::move(facts), save})
               : Result<Obtained>(trace.error());
}

}  // namespace

Error with_denial(Error error, std::int32_t pid) {
  return error.kind == ErrorKind::denied
             ? os::explain_denial(
                   std::move(error), os::look_from_outside(pid), os::look_at_obstacle())
             : error;
}

Result<LiveTarget> LiveTarget::open(std::int32_t pid) {
  auto process = os::LiveProcess::open(pid);
  if (!process) {
    return process.error();
  }
  LiveTarget live;
  live.files_ = os::open_process_files(**process);
  live.process_ = std::move(*process);
  live.commands_ = std::make_unique<os::LiveCommands>();
  return live;
}

Target LiveTarget::target() const {
  return {process_.get(), files_.get(), commands_.get()};
}

Result<Trace> look_at_process(const LiveTarget& live,
                              const LookOptions& look,
                              const std::string& label,
                              ProblemFacts& facts) {
  std::vector<std::unique_ptr<LiveTarget>> children;
  SnapshotOptions options;
  options.elf = look.elf;
  options.children = look.children;
  options.dlopen_hints = look.dlopen_hints;
  options.costs = look.costs;
  options.relocations = look.relocations;
  options.distributions = look.distributions;
  options.importers = look.importers;
  options.refused = look.refused;
  options.timeout = look.timeout;
  options.label = label;
  options.log = logger(look.verbose);
  std::optional<Error> probe_error;
  options.python = [&](const ProbeInput& input, std::vector<Notice>& notices) {
    return find_python_modules(input, look.probe, notices, probe_error, look.tracer);
  };
  options.child = [&](std::int32_t pid) -> std::optional<Target> {
    auto child = LiveTarget::open(pid);
    if (!child) {
      return std::nullopt;
    }
    children.push_back(std::make_unique<LiveTarget>(std::move(*child)));
    return children.back()->target();
  };
  auto trace = take_snapshot(live.target(), options, look.facts, facts);
  if (probe_error) {
    return *probe_error;  // the user asked for this probe by name
  }
  if (!trace) {
    return with_denial(trace.error(), live.target().process->pid());
  }
  return trace;
}

Result<Obtained> obtain_trace(const TraceRequest& request, std::optional<int>& command_status) {
  ProblemFacts facts;
  if (const auto* process = std::get_if<PidSource>(&request.source)) {
    return from_process(process->pid, request);
  }
  if (const auto* file = std::get_if<FileSource>(&request.source)) {
    const Progress progress("resolving " + file->path);
    auto trace = explain(*file, request, facts);
    return obtained(std::move(trace), std::move(facts), true);
  }
  if (const auto* run = std::get_if<RunSource>(&request.source)) {
    auto trace = run_and_look(*run, request, look_options(request), facts, command_status);
    return obtained(std::move(trace), std::move(facts), true);
  }
  if (const auto* document = std::get_if<SavedSource>(&request.source)) {
    const Progress progress("reading " + document->path);
    auto trace = read_saved(document->path, request, facts);
    return obtained(std::move(trace), std::move(facts), false);
  }
  return from_last(request);
}

}  // namespace tracso
