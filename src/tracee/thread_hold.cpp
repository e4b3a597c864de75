#include "tracee/thread_hold.hpp"

#include "tracee/requests.hpp"

#include <cerrno>

namespace tracso::tracee {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

HoldResult hold_thread(pid_t thread,
                       std::chrono::milliseconds limit,
                       const std::function<void(const Registers&)>& look) {
  const int problem = seize(thread, Follow::nothing);
  if (problem != 0) {
    // One that is just ending is refused too.
    return {problem == ESRCH || !process_of(thread) ? Hold::gone : Hold::denied, {}};
  }
  const auto begin = Clock::now();
  if (interrupt(thread) != 0) {
    return {Hold::gone, {}};
  }
  const auto report = await_report(thread, limit);
  if (!report) {
    return {process_of(thread) ? Hold::late : Hold::gone, {}};
  }
  const Stop stop = decode_status(report->status);
  if (stop.kind == StopKind::exited || stop.kind == StopKind::killed) {
    return {Hold::gone, {}};
  }
  auto registers = Registers::of(thread);
  if (registers) {
    look(*registers);
    // Of a process that was stopped before, it is not our stop that has interrupted the call.
    if (stop.kind != StopKind::group_stop && registers->repeat_call()) {
      registers->give_to(thread);
    }
  }
  detach(thread, stop.kind == StopKind::signal ? stop.value : 0);
  return {registers ? Hold::held : Hold::gone, Clock::now() - begin};
}

}  // namespace tracso::tracee
