// The children of a traced process that are followed to their end.

#include "tracee/registers.hpp"
#include "tracee/requests.hpp"
#include "tracee/system_call.hpp"
#include "tracee/traced_process.hpp"

#include <sys/wait.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace tracso::tracee {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// A child that its parent is about to seize; the parent waits for it.
constexpr milliseconds handover_limit{500};

// Does the end of a main thread take the others with it?
bool takes_all(pid_t thread) {
  const auto status = event_message(thread);
  const auto registers = Registers::of(thread);
  return (status && WIFSIGNALED(static_cast<int>(*status))) || !registers ||
         !registers->ends_only_itself();
}

}  // namespace

std::optional<Event> TracedProcess::digest_child(Report report) {
  offspring_.set_stopped(report.thread, true);
  return digest_child_stop(report.thread, decode_status(report.status));
}

std::optional<Event> TracedProcess::digest_child_stop(pid_t thread, Stop stop) {
  const pid_t process = offspring_.process_of(thread);
  switch (stop.kind) {
    case StopKind::signal:
      resume_child(thread, stop.value);
      return std::nullopt;
    case StopKind::group_stop:
      if (leaving_.count(process) > 0) {
        break;  // a detached thread stays stopped with its process
      }
      offspring_.set_stopped(thread, false);
      listen(thread);
      return std::nullopt;
    case StopKind::executed:
      offspring_.executed(thread);
      windows_.close(thread);
      resume_child(thread, 0);
      return Event{Event::Kind::child_executed, thread, process, 0};
    case StopKind::forked:
    case StopKind::forked_shared:
    case StopKind::cloned:
      digest_child_birth(thread);
      return std::nullopt;
    case StopKind::system_call:
      return digest_call(thread);
    case StopKind::exiting:
      if (leaving_.count(process) == 0 && offspring_.ends(thread, takes_all(thread))) {
        return Event{Event::Kind::child_exiting, thread, process, 0};
      }
      break;
    default:
      break;
  }
  resume_child(thread, 0);
  return std::nullopt;
}

void TracedProcess::digest_child_birth(pid_t parent) {
  const pid_t process = offspring_.process_of(parent);
  const auto born = static_cast<pid_t>(event_message(parent).value_or(0));
  const bool leaving = leaving_.count(process) > 0;
  if (born > 0) {
    const bool is_thread = tracee::process_of(born) == process;
    offspring_.add(born, is_thread ? process : born);
    if (leaving) {
      leaving_.insert(is_thread ? process : born);
    } else if (!is_thread) {
      windows_.open_for_parent(parent);
      windows_.open_for_child(born);
    }
    if (!is_thread) {
      pending_.push_back({Event::Kind::born, parent, born, 0});
    }
    if (early_.erase(born) > 0) {
      offspring_.set_stopped(born, true);
      resume_child(born, 0);
    }
  }
  resume_child(parent, 0);
}

void TracedProcess::follow_child(pid_t child) {
  if (!stands_at_first_stop(child)) {
    return;
  }
  breakpoints_.clean_copy(child);
  offspring_.add(child, child);
  windows_.open_for_child(child);
  resume_child(child, 0);
}

void TracedProcess::resume_child(pid_t thread, int signal) {
  const pid_t process = offspring_.process_of(thread);
  if (leaving_.count(process) == 0) {
    offspring_.set_stopped(thread, false);
    windows_.resume(thread, signal);
    return;
  }
  detach(thread, signal);
  windows_.close(thread);
  forget_child(thread);
}

void TracedProcess::forget_child(pid_t thread) {
  const pid_t process = offspring_.process_of(thread);
  offspring_.forget(thread);
  if (process != 0 && offspring_.threads_of(process).empty()) {
    leaving_.erase(process);  // its number may become another's
  }
}

// A parent that was killed before it could tell of its child leaves it standing. `of_command`: so
// have threads of the command, which are gone.
void TracedProcess::adopt_orphans(bool of_command) {
  if (follow_ != ChildProcesses::followed || released_) {
    return;
  }
  std::vector<pid_t> orphans;
  for (const auto& [thread, status] : early_) {
    const auto parent = parent_of(thread);
    const bool is_orphan = parent && (of_command || *parent != pid_) &&
                           threads_.count(*parent) == (*parent == pid_ ? 1U : 0U) &&
                           offspring_.threads_of(*parent).empty() &&
                           tracee::process_of(thread) == thread;
    if (is_orphan) {
      orphans.push_back(thread);
    }
  }
  for (const pid_t child : orphans) {
    follow_child(child);
    pending_.push_back({Event::Kind::born, child, child, 0});
  }
}

std::optional<Event> TracedProcess::digest_guest_exec(pid_t thread) {
  threads_.erase(thread);
  windows_.close(thread);
  if (follow_ != ChildProcesses::followed || released_) {
    detach(thread, 0);  // it has its own memory now and is no business of ours
    return std::nullopt;
  }
  offspring_.add(thread, thread);
  resume_child(thread, 0);
  return Event{Event::Kind::child_executed, thread, thread, 0};
}

std::optional<Event> TracedProcess::digest_call(pid_t thread) {
  windows_.count(thread);
  const auto call = current_call(thread);
  const bool is_child = offspring_.has(thread) || threads_[thread].guest;
  using Kind = SystemCall::Kind;
  if (!call) {
    windows_.close(thread);
  } else if (call->kind == Kind::traces && call->target != pid_) {
    const pid_t process = offspring_.process_of(call->target);
    leave_child(process != 0 ? process : call->target, handover_limit);
  } else if (is_child && (call->kind == Kind::asks_to_be_traced ||
                          (call->kind == Kind::executes && would_lose_privileges(thread, *call)))) {
    const pid_t process = offspring_.has(thread) ? offspring_.process_of(thread) : thread;
    leave_caller(thread);
    return Event{Event::Kind::child_let_go, thread, process, 0};
  }
  resume(thread);
  return std::nullopt;
}

// A thread that stands at the entry of a system call; it is carried out without us.
void TracedProcess::leave_caller(pid_t thread) {
  if (!offspring_.has(thread)) {
    threads_.erase(thread);
    windows_.close(thread);
    detach(thread, 0);
    return;
  }
  const pid_t process = offspring_.process_of(thread);
  leaving_.insert(process);
  resume_child(thread, 0);
  leave_child(process, handover_limit);
}

void TracedProcess::leave_child(pid_t child, milliseconds limit) {
  const auto guest = threads_.find(child);
  const bool is_guest = guest != threads_.end() && guest->second.guest;
  if (!is_guest && offspring_.threads_of(child).empty()) {
    return;
  }
  if (is_guest) {
    offspring_.add(child, child);
    offspring_.set_stopped(child, guest->second.stopped);
    threads_.erase(guest);
  }
  leaving_.insert(child);
  const auto end = steady_clock::now() + limit;
  for (const pid_t thread : offspring_.threads_of(child)) {
    if (offspring_.is_stopped(thread)) {
      resume_child(thread, 0);
      continue;
    }
    const auto left = std::chrono::duration_cast<milliseconds>(end - steady_clock::now());
    const auto report = interrupt(thread) == 0
                            ? await_report(thread, std::max(left, milliseconds(0)))
                            : std::nullopt;
    if (!report) {
      continue;  // it is let go at its next stop
    }
    if (auto event = digest(*report)) {
      pending_.push_back(*event);
    }
  }
  pending_.push_back({Event::Kind::child_let_go, child, child, 0});
}

void TracedProcess::release_children(milliseconds limit) {
  const auto end = steady_clock::now() + limit;
  for (const pid_t child : offspring_.processes()) {
    const auto left = std::chrono::duration_cast<milliseconds>(end - steady_clock::now());
    leave_child(child, std::max(left, milliseconds(0)));
  }
}

}  // namespace tracso::tracee
