#include "commands/run.hpp"

#include "analysis/refusals.hpp"
#include "base/text.hpp"
#include "collect/children.hpp"
#include "collect/loads.hpp"
#include "launch/run.hpp"
#include "os/live_process.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tracso {
namespace {

bool machine_form_on_stdout(const OutputOptions& output) {
  const bool to_stdout = !output.file || *output.file == "-";
  return to_stdout && output.form != "report" && output.form != "tree";
}

launch::RunOptions run_options(const RunSource& run, const TraceRequest& request) {
  launch::RunOptions options;
  options.argv = run.argv;
  options.at = run.at == RunSource::Moment::idle      ? launch::At::idle
               : run.at == RunSource::Moment::seconds ? launch::At::seconds
                                                      : launch::At::exit;
  options.after = run.after;
  options.record_loads = true;
  options.follow_children = run.follow;
  options.output_to_stderr = machine_form_on_stdout(request.output);
  options.open = [](std::int32_t pid) -> Result<std::unique_ptr<ProcessSource>> {
    auto process = os::LiveProcess::open(pid);
    if (!process) {
      return process.error();
    }
    return std::unique_ptr<ProcessSource>(std::move(*process));
  };
  return options;
}

CommandInfo command_info(const RunSource& run, const launch::RunResult& result) {
  CommandInfo command;
  command.argv = run.argv;
  command.exit_status = result.exit_status;
  command.signal = result.signal;
  command.wall_ns = result.wall.count();
  return command;
}

ChildInfo& child_of(Trace& trace, std::int32_t pid) {
  const auto known = std::find_if(trace.children.begin(),
                                  trace.children.end(),
                                  [&](const ChildInfo& one) { return one.pid == pid; });
  if (known != trace.children.end()) {
    return *known;
  }
  trace.children.push_back({pid, "", std::nullopt, {}});
  return trace.children.back();
}

// What was seen of a child at its end counts, also where it had been looked at before.
void add_followed_children(Trace& trace, const launch::RunResult& result, bool wanted) {
  std::size_t unseen = result.unshown_children + result.unlisted_children;
  for (const auto& child : result.children) {
    ChildInfo& info = child_of(trace, child.pid);
    if (child.beyond) {
      info.command = child.command;
      info.libraries_beyond_parent = child.beyond->size();
      info.beyond.clear();
      for (const auto& file : *child.beyond) {
        info.beyond.push_back(file.path);
      }
    } else if (!info.libraries_beyond_parent) {
      info.command = child.command;
      ++unseen;
    }
  }
  if (wanted && unseen > 0) {
    trace.notices.push_back(
        {"children-unseen",
         counted(unseen, "child process", "child processes") +
             " could not be looked at before the end",
         "their libraries are not in the graph",
         "--run on the child's own command, or --at with a moment at which it lives"});
  }
}

// What a dlopen was refused for want of a file.
std::vector<RefusedName> not_found(const std::vector<launch::FailedLoad>& failed) {
  std::vector<RefusedName> names;
  for (const auto& one : failed) {
    const bool missing = one.reason.find("cannot open shared object file") != std::string::npos;
    if (missing && !one.asked.empty()) {
      names.push_back({one.name, one.asked, one.requester});
    }
  }
  return names;
}

// The loader gave up before the program began: that is why its list was found unfinished.
void tell_of_refused_start(Trace& trace) {
  const FailedLoad* start = refused_start(trace);
  if (start == nullptr) {
    return;
  }
  std::erase_if(trace.notices, [](const Notice& n) { return n.code == "link-map-changing"; });
  trace.notices.push_back({"start-refused",
                           fmt::format("the loader ended the program before its start: {}: {}",
                                       printable(start->name),
                                       printable(start->reason)),
                           "what it had not come to is not loaded",
                           ""});
}

// Looks at a command at its moment, and at its children at theirs.
class Looks {
 public:
  Looks(const RunSource& run, LookOptions look) : run_(run), look_(std::move(look)) {
    look_.tracer = Tracer::us;
  }

  void at_command(const launch::Moment& moment) {
    const std::string label = fmt::format("run:{}:{}", base_name(run_.argv.front()), moment.pid);
    LookOptions look = look_;
    look.tracer = moment.stopped ? Tracer::us : Tracer::not_us;
    look.refused = not_found(moment.failed);
    const auto live = LiveTarget::open(moment.thread != 0 ? moment.thread : moment.pid);
    ProblemFacts found;
    auto trace = live ? look_at_process(*live, look, label, found) : Result<Trace>(live.error());
    if (trace || !seen_ || !*seen_) {
      seen_ = std::move(trace);
      facts_ = std::move(found);
    }
  }

  // false: it could not be looked at.
  bool at_child(const launch::Moment& moment) {
    const auto live = LiveTarget::open(moment.thread);
    if (!live) {
      return false;
    }
    LookOptions look = look_;
    look.children = look.dlopen_hints = look.importers = false;
    look.facts = {};
    ProblemFacts facts;
    auto trace = look_at_process(*live, look, "", facts);
    if (!trace) {
      return false;
    }
    // /proc/THREAD shows the process under the thread's number.
    trace->process->pid = moment.pid;
    children_.push_back(std::move(*trace));
    return true;
  }

  const std::optional<Result<Trace>>& seen() const { return seen_; }

  Trace take() { return std::move(**seen_); }

  ProblemFacts take_facts() { return std::move(facts_); }

  const std::vector<Trace>& children() const { return children_; }

 private:
  const RunSource& run_;
  LookOptions look_;
  std::optional<Result<Trace>> seen_;
  ProblemFacts facts_;  // of what was seen
  std::vector<Trace> children_;
};

// Without --children those of a program that the command was before are not.
bool is_child(const launch::RunResult& result, std::int32_t pid) {
  return std::any_of(result.children.begin(), result.children.end(), [&](const auto& child) {
    return child.pid == pid;
  });
}

// Why there is nothing to show; nullopt: there is.
std::optional<Error> nothing_seen(const RunSource& run,
                                  const launch::RunResult& result,
                                  const Looks& looks) {
  if (looks.seen()) {
    return *looks.seen() ? std::nullopt : std::optional(looks.seen()->error());
  }
  if (result.interrupted_by && !result.exit_status && !result.signal) {
    return Error{ErrorKind::interrupted,
                 "look at",
                 run.argv.front(),
                 fmt::format("tracso was ended by signal {}; the command goes on without it",
                             *result.interrupted_by),
                 fmt::format("its process is {}", result.pid)};
  }
  return Error{ErrorKind::interrupted,
               "look at",
               run.argv.front(),
               "it ended before it could be looked at",
               "tracso --at 1 --run CMD looks after a second"};
}

}  // namespace

Result<Trace> run_and_look(const RunSource& run,
                           const TraceRequest& request,
                           const LookOptions& look,
                           ProblemFacts& facts,
                           std::optional<int>& command_status) {
  Looks looks(run, look);
  launch::RunOptions options = run_options(run, request);
  options.on_whole = [&](const launch::Moment& moment) { looks.at_command(moment); };
  if (request.children) {
    options.on_child = [&](const launch::Moment& moment) { return looks.at_child(moment); };
    options.earlier_children = true;
  }
  const auto result = launch::run_command(options);
  if (!result) {
    command_status = status_of_start(result.error());
    return result.error();
  }
  if (result->interrupted_by) {
    command_status = 128 + *result->interrupted_by;
  }
  if (auto error = nothing_seen(run, *result, looks)) {
    return *error;
  }
  Trace trace = looks.take();
  facts = looks.take_facts();
  trace.command = command_info(run, *result);
  add_loads(trace, result->loads, result->failed_loads);
  tell_of_refused_start(trace);
  for (const Trace& child : looks.children()) {
    if (is_child(*result, child.process->pid)) {
      join_ended_child(trace, child);
    }
  }
  add_followed_children(trace, *result, request.children);
  trace.intrusion.stopped_ns += result->stopped.count();
  trace.intrusion.code_executed = trace.intrusion.code_executed || result->code_executed;
  trace.intrusion.method = trace.intrusion.method == "gdb" ? "gdb" : "ptrace";
  trace.notices.insert(trace.notices.end(), result->notices.begin(), result->notices.end());
  return trace;
}

}  // namespace tracso
