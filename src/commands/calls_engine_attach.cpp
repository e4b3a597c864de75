#include "commands/calls_engine_attach.hpp"

#include "calls/engine_table.hpp"
#include "calls/group.hpp"
#include "commands/calls_attach.hpp"
#include "commands/engine_output.hpp"
#include "commands/output.hpp"
#include "commands/sources.hpp"
#include "commands/status.hpp"

#include <fmt/format.h>

#include <csignal>
#include <memory>
#include <optional>

namespace tracso {
namespace {

using std::chrono::milliseconds;

Notice notice_of(const CallsRequest& request, bool whole) {
  Notice notice{"calls-traced",
                fmt::format("process {} ran on, under ptrace, where each system call stops its "
                            "thread twice",
                            request.processes.front()),
                "",
                ""};
  if (!whole) {
    notice.effect = "a thread of it could not be let go in time; the kernel does that now";
  }
  return notice;
}

}  // namespace

int system_calls_of_process(const CallsRequest& request) {
  const auto pid = request.processes.front();
  LineFile file;
  if (const auto ready = open_engine_output(request, file); !ready) {
    return fail(ready.error());
  }
  const auto live = LiveTarget::open(pid);
  if (!live) {
    return fail(with_denial(live.error(), pid));
  }
  std::signal(SIGPIPE, SIG_IGN);  // as of calls -p: it is left in order all the same
  std::optional<EngineLines> lines;
  if (!request.is_table()) {
    lines.emplace(request, file);
  }
  calls::EngineTable table;
  const auto options = engine_options(request);
  const auto doors = live_engine_doors();
  calls::CallSink& sink = lines ? static_cast<calls::CallSink&>(*lines) : table;
  calls::Engine engine(options, doors, sink);
  const launch::OwnSignals signals;
  if (const auto attached = engine.attach(*live->target().process); !attached) {
    const auto error = with_denial(attached.error(), pid);
    const int failed = fail(error);
    const int status = error.kind == ErrorKind::unsupported ? status_refused : failed;
    return end_of_no_start(request, error, status, file);
  }
  constexpr std::size_t most_at_once = 256;
  constexpr milliseconds longest_sleep{20};
  stay_attached(
      request.seconds,
      signals,
      [&] { return engine.ended().has_value(); },
      [&] {
        const bool more = engine.work(most_at_once);
        if (lines) {
          lines->write();
        }
        return more ? milliseconds(0) : longest_sleep;
      });
  const bool whole = engine.leave();
  CallsReport report;
  report.mode = CallMode::exact;
  report.programs = engine.programs();
  report.notices = engine.notices();
  if (!engine.ended()) {
    report.notices.push_back(notice_of(request, whole));
  }
  if (!lines) {
    report.rows = table.rows(engine.rate().ns_per_tick(), engine.programs());
    calls::group_rows(report, request.group);
  }
  return finish_engine(request, report, lines ? &*lines : nullptr, engine.ended());
}

}  // namespace tracso
