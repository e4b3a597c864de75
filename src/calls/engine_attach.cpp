#include "calls/engine_attach.hpp"

#include "base/result.hpp"
#include "base/text.hpp"
#include "calls/engine.hpp"
#include "proc/status.hpp"
#include "tracee/registers.hpp"
#include "tracee/thread_state.hpp"
#include "tracee/timeouts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <thread>

namespace tracso::calls {
namespace {

using tracee::StopKind;

std::vector<pid_t> threads_of(const ProcessSource& process) {
  std::vector<pid_t> threads;
  if (const auto names = process.list("task")) {
    for (const auto& name : *names) {
      if (const auto number = parse_unsigned(name)) {
        threads.push_back(static_cast<pid_t>(*number));
      }
    }
  }
  return threads;
}

// What the kernel refuses with EPERM as if it were not permitted.
std::optional<Error> engine_refusal(const ProcessSource& process) {
  const auto text = process.read("stat");
  const auto stat = text ? proc::parse_stat(*text) : std::nullopt;
  const auto subject = std::to_string(process.pid());
  const bool alone = threads_of(process).size() < 2;  // else only its first thread has ended
  if (stat && alone && (stat->state == 'Z' || stat->state == 'X')) {
    return Error{ErrorKind::not_found,
                 "trace process",
                 subject,
                 "it has ended already; only its parent has not asked yet (zombie)",
                 ""};
  }
  const auto status = process.read("status");
  const auto tracer = status ? proc::status_value(*status, "TracerPid") : std::nullopt;
  if (tracer && trim(*tracer) != "0") {
    return Error{ErrorKind::unsupported,
                 "trace process",
                 subject,
                 fmt::format("process {} traces it, and there can be only one", trim(*tracer)),
                 "end that debugger or tracer first"};
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::uint64_t> go_on_waiting(pid_t thread, std::chrono::nanoseconds waited) {
  const auto state = tracee::ThreadState::of(thread);
  const auto call = state ? state->interrupted_call() : std::nullopt;
  auto registers = tracee::Registers::of(thread);
  if (registers && registers->repeat_call() && registers->give_to(thread) && waited.count() > 0) {
    tracee::shorten_timeout(thread, waited);
  }
  return call ? std::optional(static_cast<std::uint64_t>(*call)) : std::nullopt;
}

// Threads that are made meanwhile by one that we have come with it, by the kernel's own doing; so
// the list is read until there is nobody new in it.
Result<Done> Engine::attach(const ProcessSource& process) {
  if (auto error = engine_refusal(process)) {
    return *error;
  }
  pid_ = process.pid();
  auto traced = std::make_shared<EngineProcess>();
  traced->pid = pid_;
  traced->memory = std::make_shared<EngineMemory>();
  for (bool more = true; more;) {
    more = false;
    for (const pid_t number : threads_of(process)) {
      if (threads_.count(number) != 0) {
        continue;
      }
      const int problem = tracee::seize(number, tracee::Follow::everything);
      if (problem != 0 && threads_.empty()) {
        return errno_error(problem, "trace process", std::to_string(pid_));
      }
      if (problem == 0 && tracee::interrupt(number) == 0) {
        add_thread(number, traced).attached = true;
        more = true;
      }
    }
  }
  if (threads_.empty()) {
    return errno_error(ESRCH, "trace process", std::to_string(pid_));
  }
  executed_ = true;
  traced->program = begin_program(pid_);
  return Done{};
}

// How long it has been in the system call whose beginning we have seen.
std::chrono::nanoseconds Engine::time_in_call(const EngineThread& thread) const {
  const auto begun = thread.system_call ? thread.system_call->ticks : rate_.now();
  const auto ticks = static_cast<double>(static_cast<std::int64_t>(rate_.now() - begun));
  return std::chrono::nanoseconds(static_cast<std::int64_t>(ticks * rate_.ns_per_tick()));
}

// true: it is not ours any more.
bool Engine::leave_thread(EngineThread& thread, tracee::Stop stop) {
  switch (stop.kind) {
    case StopKind::trap:
      go_on_waiting(thread.number, time_in_call(thread));
      return tracee::detach(thread.number, 0);
    case StopKind::group_stop:
      return tracee::detach(thread.number, 0);
    case StopKind::signal:
      return tracee::detach(thread.number, stop.value);
    default:                             // at a system call, a birth, an exec, its end
      tracee::interrupt(thread.number);  // again: any other stop has taken the former one away
      tracee::resume(thread.number, 0);
      return false;
  }
}

bool Engine::leave() {
  constexpr std::chrono::seconds limit{2};
  constexpr std::chrono::microseconds pause{200};
  for (const auto& [number, thread] : threads_) {
    tracee::interrupt(number);
  }
  for (const auto& [number, early] : early_) {
    tracee::detach(number, 0);
  }
  early_.clear();
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!threads_.empty() && std::chrono::steady_clock::now() < end) {
    const auto report = next_report();
    if (!report) {
      std::this_thread::sleep_for(pause);
      continue;
    }
    const auto stop = tracee::decode_status(report->status);
    const auto found = threads_.find(report->thread);
    if (stop.kind == StopKind::exited || stop.kind == StopKind::killed) {
      on_end(*report);
    } else if (found == threads_.end()) {
      tracee::detach(report->thread, 0);  // born just now
    } else if (leave_thread(found->second, stop)) {
      threads_.erase(found);
    }
  }
  return threads_.empty();
}

}  // namespace tracso::calls
