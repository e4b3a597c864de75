#include "commands/calls_engine_attach.hpp"

#include "commands/calls_attach.hpp"
#include "commands/engine_output.hpp"
#include "commands/output.hpp"
#include "commands/sources.hpp"
#include "commands/status.hpp"

#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <optional>
#include <utility>

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
  EngineOutput output(request);
  if (const auto ready = output.open(); !ready) {
    return fail(ready.error());
  }
  const auto live = LiveTarget::open(pid);
  if (!live) {
    return fail(with_denial(live.error(), pid));
  }
  std::signal(SIGPIPE, SIG_IGN);  // as of calls -p: it is left in order all the same
  const auto options = engine_options(request);
  const auto doors = live_engine_doors();
  calls::Engine engine(options, doors, output.begin());
  const launch::OwnSignals signals;
  if (const auto attached = engine.attach(*live->target().process); !attached) {
    const auto error = with_denial(attached.error(), pid);
    const int failed = fail(error);
    return output.not_run(error, error.kind == ErrorKind::unsupported ? status_refused : failed);
  }
  std::optional<AttachedWords> words(request);
  constexpr std::size_t most_at_once = 256;
  constexpr milliseconds longest_sleep{20};
  stay_attached(
      request.seconds,
      signals,
      [&] { return engine.ended().has_value(); },
      [&] {
        const bool more = engine.work(most_at_once);
        output.write();
        return more ? milliseconds(0) : longest_sleep;
      });
  words.reset();
  const bool whole = engine.leave();
  CallsReport report;
  if (!engine.ended()) {
    report.notices.push_back(notice_of(request, whole));
  }
  return output.finish(engine, std::move(report), engine.ended());
}

}  // namespace tracso
