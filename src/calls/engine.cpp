#include "calls/engine.hpp"

#include "base/result.hpp"
#include "base/text.hpp"
#include "calls/engine_attach.hpp"
#include "tracee/guardian.hpp"

#include <fmt/format.h>

#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <string>
#include <utility>

namespace tracso::calls {
namespace {

using tracee::StopKind;

bool is_end(StopKind kind) {
  return kind == StopKind::exited || kind == StopKind::killed;
}

}  // namespace

Engine::Engine(const EngineOptions& options, const EngineDoors& doors, CallSink& sink)
    : options_(options),
      doors_(doors),
      sink_(sink),
      sites_(options.prototypes),
      places_(options.watched, doors, sites_) {
  if (auto guardian = tracee::Guardian::start()) {
    first_guardian_ = std::move(*guardian);
  }
}

Engine::~Engine() = default;

Result<Done> Engine::trace(pid_t child) {
  const int problem = tracee::seize(child, tracee::Follow::everything);
  if (problem != 0) {
    return errno_error(problem, "trace process", std::to_string(child));
  }
  pid_ = child;
  auto process = std::make_shared<EngineProcess>();
  process->pid = child;
  process->memory = std::make_shared<EngineMemory>();
  if (first_guardian_) {
    process->memory->breakpoints.use(std::move(first_guardian_));
  }
  add_thread(child, std::move(process));
  return Done{};
}

void Engine::give_guardian(EngineMemory& memory) {
  if (auto guardian = tracee::Guardian::start()) {
    memory.breakpoints.use(std::move(*guardian));
  }
}

tracee::Guardian* Engine::guardian() {
  const auto thread = threads_.find(pid_);
  return thread == threads_.end() ? nullptr
                                  : thread->second.process->memory->breakpoints.guardian();
}

Engine::Job Engine::take_job() {
  return std::exchange(job_, Job::unchanged);
}

std::optional<tracee::Report> Engine::next_report() {
  if (!deferred_.empty()) {
    const Report report = deferred_.front();
    deferred_.pop_front();
    return report;
  }
  return tracee::poll_report(0);
}

bool Engine::work(std::size_t most) {
  for (std::size_t i = 0; i < most; ++i) {
    if (const auto report = next_report()) {
      digest(*report);
      continue;
    }
    adopt_orphans();
    return false;
  }
  return true;
}

void Engine::digest(Report report) {
  const auto stop = tracee::decode_status(report.status);
  if (is_end(stop.kind)) {
    on_end(report);
    return;
  }
  const auto found = threads_.find(report.thread);
  if (found == threads_.end()) {
    early_[report.thread] = {report.status, std::chrono::steady_clock::now()};
    return;
  }
  found->second.stopped = true;
  found->second.bears = false;
  if (found->second.moved) {
    end_move(found->second);
    const auto details = stop.kind == StopKind::signal && stop.value == SIGTRAP
                             ? tracee::signal_details(report.thread)
                             : std::nullopt;
    if (details && details->si_code == TRAP_TRACE) {
      resume(found->second);
      return;
    }
  }
  digest_stop(found->second, stop);
}

void Engine::digest_stop(EngineThread& thread, tracee::Stop stop) {
  switch (stop.kind) {
    case StopKind::signal:
      on_signal(thread, stop.value);
      return;
    case StopKind::group_stop:
      on_group_stop(thread);
      return;
    case StopKind::executed:
      on_exec(thread);
      return;
    case StopKind::forked:
    case StopKind::forked_shared:
    case StopKind::cloned:
      on_birth(thread, stop.kind);
      return;
    case StopKind::system_call:
      on_system_call(thread);
      return;
    case StopKind::trap:
      if (std::exchange(thread.attached, false)) {
        thread.waited_in = go_on_waiting(thread.number);
      }
      if (std::exchange(thread.waits, false) && thread.number == pid_) {
        job_ = Job::continued;
      }
      break;
    default:
      break;
  }
  resume(thread);
}

void Engine::resume(EngineThread& thread, int signal) {
  thread.stopped = false;
  // Of one that is not told only this is of interest: does it execute what tracing would harm?
  const bool to_call = executed_ && (options_.system_calls || !thread.process->told);
  if (to_call) {
    tracee::resume_to_system_call(thread.number, signal);
  } else {
    tracee::resume(thread.number, signal);
  }
}

void Engine::on_signal(EngineThread& thread, int signal) {
  if (signal == SIGTRAP) {
    const auto details = tracee::signal_details(thread.number);
    auto registers =
        details && tracee::is_breakpoint(*details) ? Registers::of(thread.number) : std::nullopt;
    const auto address = registers ? registers->breakpoint_address() : 0;
    const auto& breakpoints = thread.process->memory->breakpoints;
    if (registers && breakpoints.is_known(address)) {
      registers->set_pc(address);
      registers->give_to(thread.number);
      if (breakpoints.is_inserted(address)) {
        on_breakpoint(thread, address, *registers);
      } else {
        resume(thread);  // it ran into it before it was taken out
      }
      return;
    }
  }
  if (executed_ && thread.process->told) {
    sink_.add_signal(thread.process->program, thread.number, rate_.now(), signal);
  }
  resume(thread, signal);
}

void Engine::on_group_stop(EngineThread& thread) {
  thread.stopped = false;
  thread.waits = true;
  tracee::listen(thread.number);
  if (thread.number == pid_) {
    job_ = Job::stopped;
  }
}

// All other threads of the process are gone; the one that has called it has the process's number
// now.
void Engine::on_exec(EngineThread& thread) {
  const auto process = thread.process;
  const auto former = static_cast<pid_t>(tracee::event_message(thread.number).value_or(0));
  auto system_call = std::move(thread.system_call);
  if (const auto caller = threads_.find(former);
      caller != threads_.end() && former != process->pid) {
    system_call = std::move(caller->second.system_call);
  }
  std::erase_if(threads_, [&](const auto& entry) {
    return entry.second.process == process && entry.first != process->pid;
  });
  EngineThread& only = threads_[process->pid];
  only = {};
  only.number = process->pid;
  only.process = process;
  only.stopped = true;
  only.system_call = std::move(system_call);
  if (!process->told) {
    tracee::detach(only.number, 0);
    threads_.erase(process->pid);
    ++children_let_go_;
    return;
  }
  if (process->memory.use_count() > 1) {
    process->memory = std::make_shared<EngineMemory>();
    give_guardian(*process->memory);
  }
  process->memory->begin_anew();
  executed_ = true;
  process->program = begin_program(process->pid);
  if (const auto registers = Registers::of(only.number); !registers || registers->is_32_bit()) {
    ++foreign_;
  } else {
    places_.begin(process->pid, only.number, *process->memory);
  }
  resume(only);
}

void Engine::on_end(Report report) {
  early_.erase(report.thread);
  threads_.erase(report.thread);
  if (report.thread == pid_) {
    status_ = report.status;
  }
}

std::vector<Notice> Engine::notices() const {
  std::vector<Notice> notices;
  const auto add = [&](std::uint64_t count,
                       const char* code,
                       const std::string& text,
                       const char* effect,
                       const char* hint) {
    if (count != 0) {
      notices.push_back({code, text, effect, hint});
    }
  };
  const auto& unwatched = places_.unwatched();
  add(unwatched.no_room,
      "calls-places",
      fmt::format("more functions than can be watched at once (by {})", unwatched.no_room),
      "their calls are not here",
      "a narrower filter");
  add(unwatched.indirect,
      "calls-indirect",
      fmt::format("some entry points ({}) are chosen when the program starts (IFUNC)",
                  unwatched.indirect),
      "they are not watched",
      "-e NAME shows who calls them");
  add(unwatched.unreadable,
      "calls-unreadable",
      fmt::format("mapped files could not be read ({})", unwatched.unreadable),
      "their functions are not watched",
      "");
  for (const Filter& absent : executed_ ? places_.absent() : std::vector<Filter>()) {
    notices.push_back({"calls-no-entry",
                       "no function fits -x '" + printable(expression_of(absent)) + "'",
                       "nothing is watched for it",
                       "the name as nm and nm -D show it; -x 'NAME@LIBRARY', -x '*NAME*'"});
  }
  add(returns_unseen_,
      "calls-returns",
      fmt::format("more places to return to than can be watched ({})",
                  counted(returns_unseen_, "call")),
      "their results are missing",
      "a narrower filter");
  add(asked_to_be_traced_,
      "calls-self-tracing",
      "the program asked to be traced (ptrace), which is refused to it while tracso traces it",
      "it may behave otherwise than without tracso",
      "--engine agent leaves ptrace to the program");
  add(foreign_,
      "calls-foreign",
      fmt::format("programs that are not x86-64 programs of 64 bits were executed ({})", foreign_),
      "their functions are not watched",
      "");
  add(children_let_go_,
      "calls-children",
      fmt::format("child processes were not traced ({})", children_let_go_),
      "what they called is not here",
      "-f follows them");
  return notices;
}

}  // namespace tracso::calls
