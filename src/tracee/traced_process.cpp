#include "tracee/traced_process.hpp"

#include "base/result.hpp"
#include "tracee/architecture.hpp"
#include "tracee/registers.hpp"
#include "tracee/requests.hpp"

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>
#include <vector>

namespace tracso::tracee {
namespace {

// A newborn stops before its first instruction; it only has to be scheduled once.
constexpr std::chrono::milliseconds first_stop_limit{2000};

bool is_end(StopKind kind) {
  return kind == StopKind::exited || kind == StopKind::killed;
}

}  // namespace

Result<TracedProcess> TracedProcess::seize(pid_t child, ChildProcesses children) {
  const int problem = tracee::seize(child, Follow::everything);
  if (problem != 0) {
    return errno_error(problem, "trace process", std::to_string(child));
  }
  TracedProcess process(child);
  process.follow_ = children;
  return process;
}

TracedProcess TracedProcess::untraced(pid_t child) {
  TracedProcess process(child);
  process.released_ = true;
  process.threads_[child].free = true;
  return process;
}

std::optional<Report> TracedProcess::next_report() {
  if (!deferred_.empty()) {
    const Report report = deferred_.front();
    deferred_.pop_front();
    return report;
  }
  return poll_report(0);
}

std::optional<Event> TracedProcess::next() {
  for (;;) {
    if (!pending_.empty()) {
      const Event event = pending_.front();
      pending_.pop_front();
      return event;
    }
    const auto report = next_report();
    if (!report) {
      return std::nullopt;
    }
    if (auto event = digest(*report)) {
      return event;
    }
  }
}

std::optional<Event> TracedProcess::digest(Report report) {
  const Stop stop = decode_status(report.status);
  if (is_end(stop.kind)) {
    return digest_end(report);
  }
  if (offspring_.has(report.thread)) {
    return digest_child(report);
  }
  const auto found = threads_.find(report.thread);
  if (found == threads_.end()) {
    early_[report.thread] = report.status;
    adopt_orphans(false);  // whoever was to tell of it may have ended already
    return std::nullopt;
  }
  if (found->second.free) {
    return Event{Event::Kind::job_stopped, report.thread, stop.value, 0};
  }
  found->second.stopped = true;
  return digest_stop(report.thread, stop);
}

std::optional<Event> TracedProcess::digest_end(Report report) {
  early_.erase(report.thread);
  threads_.erase(report.thread);
  forget_child(report.thread);
  windows_.close(report.thread);
  adopt_orphans(false);
  if (report.thread != pid_) {
    return std::nullopt;
  }
  let_orphans_go();
  return Event{Event::Kind::ended, pid_, report.status, 0};
}

std::optional<Event> TracedProcess::digest_stop(pid_t thread, Stop stop) {
  switch (stop.kind) {
    case StopKind::signal:
      return digest_signal(thread, stop.value);
    case StopKind::group_stop:
      return digest_group_stop(thread, stop.value);
    case StopKind::executed:
      return digest_exec(thread);
    case StopKind::forked:
    case StopKind::forked_shared:
    case StopKind::cloned:
      return digest_birth(thread, stop.kind);
    case StopKind::system_call:
      return digest_call(thread);
    case StopKind::trap: {
      const bool waited = std::exchange(threads_[thread].waits, false);
      resume(thread);
      return waited && thread == pid_
                 ? std::optional(Event{Event::Kind::job_continued, thread, 0, 0})
                 : std::nullopt;
    }
    case StopKind::exiting: {
      threads_[thread].ending = true;
      if (threads_[thread].guest) {
        break;
      }
      const auto status = event_message(thread);
      return Event{Event::Kind::exiting, thread, static_cast<int>(status.value_or(0)), 0};
    }
    default:
      break;
  }
  resume(thread);
  return std::nullopt;
}

// Where a trap leaves the thread behind its instruction, no thread is there but by that trap if it
// always goes on elsewhere: then nobody has to be asked who sent the signal.
bool TracedProcess::stands_behind_breakpoint(const Registers& registers) const {
  return breakpoint_advance() != 0 && breakpoints_.returns(registers.breakpoint_address());
}

// The address of the breakpoint that the signal is about, or stands for.
std::optional<std::uint64_t> TracedProcess::breakpoint_of(pid_t thread,
                                                          int signal,
                                                          const Registers& registers) const {
  if (signal == SIGSEGV) {
    const auto address = breakpoints_.behind_fault(registers.pc());
    const auto details = address ? signal_details(thread) : std::nullopt;
    return details && details->si_code == SI_KERNEL ? address : std::nullopt;
  }
  const std::uint64_t address = registers.breakpoint_address();
  if (!stands_behind_breakpoint(registers)) {
    const auto details = signal_details(thread);
    if (!details || !is_breakpoint(*details)) {
      return std::nullopt;
    }
  }
  return breakpoints_.is_known(address) ? std::optional(address) : std::nullopt;
}

std::optional<Event> TracedProcess::digest_signal(pid_t thread, int signal) {
  const bool may_be_ours = signal == SIGTRAP || (signal == SIGSEGV && breakpoints_.has_faults());
  auto registers = may_be_ours ? Registers::of(thread) : std::nullopt;
  const auto found = registers ? breakpoint_of(thread, signal, *registers) : std::nullopt;
  if (!found) {
    return Event{Event::Kind::signal, thread, signal, 0};
  }
  const std::uint64_t address = *found;
  registers->set_pc(address);
  // The return too is done here: should we be killed before it is resumed, the thread goes on well.
  const bool returned = breakpoints_.returns(address) && registers->return_to_caller(thread);
  registers->give_to(thread);
  if (breakpoints_.is_inserted(address)) {
    return Event{Event::Kind::breakpoint, thread, 0, address, registers, returned};
  }
  resume(thread);  // it ran into it before it was removed
  return std::nullopt;
}

std::optional<Event> TracedProcess::digest_group_stop(pid_t thread, int signal) {
  if (released_) {
    resume(thread);  // a detached thread stays stopped with its process
  } else {
    // Still "stopped" for us only until SIGCONT, which comes as a trap.
    threads_[thread].stopped = false;
    threads_[thread].waits = true;
    listen(thread);
  }
  if (thread != pid_) {
    return std::nullopt;
  }
  return Event{Event::Kind::job_stopped, thread, signal, 0};
}

std::optional<Event> TracedProcess::digest_exec(pid_t thread) {
  if (threads_[thread].guest) {
    return digest_guest_exec(thread);
  }
  if (follow_ == ChildProcesses::followed && !released_) {
    adopt_orphans(true);
  } else {
    let_orphans_go();
  }
  std::erase_if(threads_,
                [&](const auto& entry) { return entry.first != thread && !entry.second.guest; });
  threads_[thread] = {};
  threads_[thread].stopped = true;
  breakpoints_.forget();
  return Event{Event::Kind::executed, thread, 0, 0};
}

std::optional<Event> TracedProcess::digest_birth(pid_t parent, StopKind kind) {
  const auto message = event_message(parent);
  const auto child = static_cast<pid_t>(message.value_or(0));
  if (child <= 0) {
    resume(parent);
    return std::nullopt;
  }
  const bool is_thread = kind == StopKind::cloned && process_of(child) == pid_;
  const bool followed = follow_ == ChildProcesses::followed && !released_;
  // vfork and posix_spawn share memory too, but only until exec, and run no code that has
  // breakpoints: it can be let go.
  const bool by_vfork = kind == StopKind::forked_shared;
  const bool is_guest =
      !is_thread && (followed || !by_vfork) && share_memory(parent, child).value_or(by_vfork);
  if (followed && !is_thread) {
    windows_.open_for_parent(parent);
  }
  if (is_thread || is_guest) {
    threads_[child].guest = is_guest;
    if (is_guest && followed) {
      windows_.open_for_child(child);
    }
    if (const auto early = early_.extract(child)) {
      digest({child, early.mapped()});
    }
  } else if (followed) {
    follow_child(child);
  } else {
    // Before the parent runs on: it may want to trace the child itself.
    let_child_go(child, kind);
  }
  resume(parent);
  if (is_thread) {
    return std::nullopt;
  }
  return Event{Event::Kind::born, parent, child, 0};
}

bool TracedProcess::stands_at_first_stop(pid_t child) {
  if (early_.erase(child) > 0) {
    return true;
  }
  const auto report = await_report(child, first_stop_limit);
  return report && !is_end(decode_status(report->status).kind);
}

void TracedProcess::let_child_go(pid_t child, StopKind kind) {
  if (!stands_at_first_stop(child)) {
    return;
  }
  if (kind != StopKind::forked_shared) {
    breakpoints_.clean_copy(child);
  }
  detach(child, 0);
}

void TracedProcess::let_orphans_go() {
  // Their parent was killed before it could tell of them.
  for (const auto& [child, status] : std::exchange(early_, {})) {
    breakpoints_.clean_copy(child);
    detach(child, 0);
  }
}

void TracedProcess::resume(pid_t thread, int signal) {
  if (offspring_.has(thread)) {
    resume_child(thread, signal);
    return;
  }
  const auto found = threads_.find(thread);
  if (found == threads_.end()) {
    return;
  }
  found->second.stopped = false;
  if (!released_) {
    windows_.resume(thread, signal);
    return;
  }
  detach(thread, signal);
  if (thread == pid_) {
    found->second.free = true;  // its end is still ours to wait for
  } else {
    threads_.erase(found);
  }
}

void TracedProcess::stop_all(std::chrono::milliseconds limit) {
  std::vector<pid_t> asked;
  for (const auto& [thread, state] : threads_) {
    if (!state.stopped && !state.free && interrupt(thread) == 0) {
      asked.push_back(thread);
    }
  }
  const auto end = std::chrono::steady_clock::now() + limit;
  for (const pid_t thread : asked) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    const auto report = await_report(thread, std::max(left, std::chrono::milliseconds(0)));
    if (!report) {
      continue;
    }
    const Stop stop = decode_status(report->status);
    threads_[thread].stopped = !is_end(stop.kind);
    if (stop.kind != StopKind::trap) {
      deferred_.push_back(*report);
    }
  }
}

void TracedProcess::release(std::chrono::milliseconds limit) {
  if (released_) {
    return;
  }
  stop_all(limit);
  if (const pid_t stopped = stopped_thread(); stopped != 0) {
    breakpoints_.remove_all(stopped);
  } else {
    breakpoints_.leave_to_guardian();
  }
  released_ = true;
  std::deque<Report> ends;
  for (const Report& report : std::exchange(deferred_, {})) {
    if (is_end(decode_status(report.status).kind)) {
      ends.push_back(report);
    } else if (const auto event = digest(report)) {
      resume(event->thread, event->kind == Event::Kind::signal ? event->value : 0);
    }
  }
  deferred_ = std::move(ends);
  let_orphans_go();
  release_children(limit);
  std::vector<pid_t> stopped;
  for (const auto& [thread, state] : threads_) {
    if (state.stopped) {
      stopped.push_back(thread);
    }
  }
  for (const pid_t thread : stopped) {
    resume(thread);
  }
}

std::size_t TracedProcess::threads_besides(pid_t thread) const {
  return static_cast<std::size_t>(
      std::count_if(threads_.begin(), threads_.end(), [&](const auto& entry) {
        return entry.first != thread && !entry.second.ending && !entry.second.guest;
      }));
}

pid_t TracedProcess::stopped_thread() const {
  const auto found = std::find_if(threads_.begin(), threads_.end(), [](const auto& entry) {
    return entry.second.stopped && !entry.second.guest;
  });
  return found == threads_.end() ? 0 : found->first;
}

}  // namespace tracso::tracee
