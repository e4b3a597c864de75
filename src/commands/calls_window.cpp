#include "commands/calls_window.hpp"

#include "base/text.hpp"
#include "calls/attachment.hpp"
#include "calls/group.hpp"
#include "commands/calls_attach.hpp"
#include "commands/progress.hpp"
#include "launch/own_signals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>

namespace tracso {
namespace {

using Clock = std::chrono::steady_clock;

Notice refused(const Error& error, std::int32_t pid) {
  const Error told = with_denial(error, pid);
  return {"calls-refused",
          "library calls were not counted: " + told.reason,
          "the report does not say what is used",
          told.hint};
}

// The nodes of objects by their path, as the loader calls them.
std::map<std::string, NodeId> nodes_of(const CallsReport& report, const Graph& graph) {
  std::map<std::uint64_t, NodeId> by_base;
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const ObjectFile* file = object(graph.nodes()[i]);
    for (std::size_t base = 0; file != nullptr && file->loaded && base < file->bases.size();
         ++base) {
      by_base.emplace(file->bases[base], NodeId{static_cast<std::uint32_t>(i)});
    }
  }
  std::map<std::string, NodeId> nodes;
  for (const CalledObject& one : report.objects) {
    const auto found = by_base.find(one.bias);
    if (found != by_base.end()) {
      nodes.emplace(one.path, found->second);
    }
  }
  return nodes;
}

CallWatch watch_of(CallsReport& report, const Graph& graph, std::int64_t window_ns) {
  CallWatch watch;
  watch.window_ns = window_ns;
  const auto nodes = nodes_of(report, graph);
  calls::group_rows(report, CallGroup::libraries);
  for (const CallRow& row : report.rows) {
    const auto caller = nodes.find(row.caller_path);
    const auto callee = nodes.find(row.callee_path);
    if (caller == nodes.end() || callee == nodes.end()) {
      watch.elsewhere += row.calls;
    } else {
      watch.pairs.push_back({caller->second, callee->second, row.calls});
    }
  }
  std::stable_sort(watch.pairs.begin(), watch.pairs.end(), [](const auto& one, const auto& other) {
    return one.calls > other.calls;
  });
  return watch;
}

// What was seen, what was done for it, and how it was left.
Notice told(const Trace& trace, const calls::Attachment& attachment, const Result<Done>& detached) {
  auto notice = notice_of(attachment, detached);
  notice.text =
      fmt::format("library calls were counted for {:.1f} s by an agent in the process; {}",
                  static_cast<double>(trace.calls->window_ns) / 1e9,
                  notice.text);
  if (detached && !has_ended(attachment.process())) {
    notice.effect = "every slot leads again where it led before; the agent stays and costs no time";
  }
  return notice;
}

void add_gaps(const CallsReport& report, Trace& trace) {
  const auto& untraced = report.untraced;
  if (trace.calls->elsewhere != 0) {
    trace.notices.push_back(
        {"calls-elsewhere",
         fmt::format("{} from or into what was not there when the libraries were read",
                     counted(trace.calls->elsewhere, "call was", "calls were")),
         "they are in no row",
         ""});
  }
  if (untraced.address_taken + untraced.no_room + untraced.dlsym != 0) {
    trace.notices.push_back(
        {"calls-untraced",
         fmt::format(
             "not traced: {} of which only the address is used, {} without room, {} with dlsym",
             counted(untraced.address_taken, "imported function"),
             untraced.no_room,
             counted(untraced.dlsym, "look-up")),
         "what is called through such pointers only counts as not used; so do calls inside a "
         "library",
         "tracso --unused PID tells of all time, from what is bound"});
  }
}

}  // namespace

CallWindow count_calls(const LiveTarget& live, std::chrono::milliseconds time, Trace& trace) {
  const Target target = live.target();
  const launch::OwnSignals signals;
  std::optional<Progress> progress;
  progress.emplace(fmt::format("counting the library calls of {}", target.process->pid()));
  calls::ArenaOptions options;
  options.mode = CallMode::count;
  const calls::TickRate rate;
  auto attached = calls::Attachment::attach(target, options);
  if (!attached) {
    trace.notices.push_back(refused(attached.error(), target.process->pid()));
    return has_ended(*target.process) ? CallWindow::ended : CallWindow::refused;
  }
  calls::Attachment& attachment = **attached;
  const auto start = Clock::now();
  stay_attached(
      time,
      signals,
      [&] { return has_ended(*target.process); },
      [] { return std::chrono::milliseconds(50); });
  const auto window = Clock::now() - start;
  const auto detached = attachment.detach();
  CallsReport report;
  report.mode = CallMode::count;
  attachment.arena().read(rate.ns_per_tick(), report);
  trace.calls = watch_of(
      report, trace.graph, std::chrono::duration_cast<std::chrono::nanoseconds>(window).count());
  trace.intrusion.code_executed = true;
  trace.intrusion.stopped_ns += attachment.held().all.count();
  trace.intrusion.method = "ptrace";
  trace.notices.push_back(told(trace, attachment, detached));
  add_gaps(report, trace);
  trace.notices.insert(trace.notices.end(), report.notices.begin(), report.notices.end());
  const bool other_program = !detached && detached.error().kind == ErrorKind::interrupted;
  return other_program || has_ended(*target.process) ? CallWindow::ended : CallWindow::whole;
}

}  // namespace tracso
