#include "launch/session.hpp"

#include "base/text.hpp"
#include "launch/privileges.hpp"
#include "tracee/registers.hpp"
#include "tracee/requests.hpp"

#include <fmt/format.h>

#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <utility>

namespace tracso::launch {
namespace {

using std::chrono::milliseconds;

// SIGCHLD wakes us; this is for signals that another thread of ours has taken.
constexpr milliseconds longest_sleep{250};

constexpr std::size_t most_events_at_once = 64;

// Does the command stand still while such an event is handled?
bool holds_command(tracee::Event::Kind kind) {
  using Kind = tracee::Event::Kind;
  return kind == Kind::executed || kind == Kind::breakpoint || kind == Kind::exiting ||
         kind == Kind::signal;
}

}  // namespace

Session::Session(const RunOptions& options,
                 OwnSignals& signals,
                 HeldCommand command,
                 tracee::TracedProcess process)
    : options_(options),
      signals_(signals),
      command_(std::move(command)),
      process_(std::move(process)),
      looks_(options.on_child),
      quiet_(options.quiet),
      traced_(!process_.is_released()) {
  result_.pid = process_.pid();
}

Result<RunResult> Session::run() {
  start_ = next_look_ = next_interval_ = Clock::now();
  command_.go();
  if (!traced_) {
    if (auto failure = command_.await_failure()) {
      while (!process_.next()) {
        signals_.wait(longest_sleep);
      }
      return *failure;
    }
    executed_ = true;
  }
  while (!over_) {
    // Busy children must not keep us from our own signals.
    std::size_t handled = 0;
    while (!over_ && handled < most_events_at_once) {
      const auto event = process_.next();
      if (!event) {
        break;
      }
      ++handled;
      const auto before = Clock::now();
      handle(*event);
      result_.stopped +=
          holds_command(event->kind) ? Clock::now() - before : std::chrono::nanoseconds(0);
      if (program_) {
        program_->look_ahead();
      }
    }
    if (over_) {
      break;
    }
    const bool calm = handled == 0;
    const auto limit = handled < most_events_at_once ? job_.limited(patience()) : milliseconds(0);
    const OwnSignal signal = signals_.wait(limit);
    if (signal.number == 0 && calm) {
      stop_with_command();
    } else if (signal.number != 0) {
      on_own_signal(signal);
    }
    forward_due();
    on_time();
  }
  return finish();
}

Result<RunResult> Session::finish() {
  if (!executed_) {
    if (auto failure = command_.failure()) {
      return *failure;
    }
  }
  result_.wall = Clock::now() - start_;
  look_at_living();
  process_.release_children(stop_limit);
  result_.children = children_.list(looks_);
  result_.unshown_children = looks_.unshown();
  result_.unlisted_children = children_.untold();
  if (program_) {
    program_->give_loads(result_);
    result_.python_watched = program_->watches_python();
  }
  if (children_.untold() > 0) {
    note({"children-not-listed",
          counted(children_.untold(), "more child process was", "more child processes were") +
              " started",
          "they are not in the list of children",
          ""});
  }
  return std::move(result_);
}

milliseconds Session::patience() const {
  const auto now = Clock::now();
  auto wake = now + longest_sleep;
  if (const auto look = children_.next_look()) {
    wake = std::min(wake, *look);
  }
  if (const auto due = forwarding_.next()) {
    wake = std::min(wake, *due);
  }
  if (const auto due = program_ ? program_->next_preparation() : std::nullopt) {
    wake = std::min(wake, *due);
  }
  if (!taken_ && executed_ && (!traced_ || options_.at == At::idle)) {
    wake = std::min(wake, next_look_);
  }
  if (!taken_ && executed_ && options_.at == At::seconds) {
    wake = std::min(wake, start_ + options_.after);
  }
  if (executed_ && options_.interval.count() > 0) {
    wake = std::min(wake, next_interval_);
  }
  return std::max(std::chrono::ceil<milliseconds>(wake - now), milliseconds(0));
}

void Session::handle(const Event& event) {
  switch (event.kind) {
    case Event::Kind::executed:
      on_executed(event);
      break;
    case Event::Kind::breakpoint:
      on_breakpoint(event);
      break;
    case Event::Kind::exiting:
      on_exiting(event);
      break;
    case Event::Kind::signal:
      on_signal_to_command(event);
      break;
    case Event::Kind::born:
      children_.born(event.value,
                     options_.follow_children ? ChildIs::followed : ChildIs::let_go,
                     Clock::now());
      break;
    case Event::Kind::job_stopped:
      job_.stopped(traced_ && !process_.is_released());
      break;
    case Event::Kind::job_continued:
      job_.continued();
      break;
    case Event::Kind::ended:
      on_ended(event.value);
      break;
    case Event::Kind::child_executed:
      on_child_executed(event.value);
      break;
    case Event::Kind::child_exiting:
      on_child_exiting(event);
      break;
    case Event::Kind::child_let_go:
      // It will not be looked at: that is said where the children are listed.
      children_.let_go(event.value, Clock::now());
      break;
  }
}

void Session::on_executed(const Event& event) {
  executed_ = true;
  taken_ = false;
  if (!options_.earlier_children) {
    children_.keep_living();
    looks_.begin_anew();
  }
  program_.reset();
  if (auto door = options_.open(process_.pid())) {
    const bool withheld = lacks_privileges(**door);
    program_.emplace(process_, std::move(*door), options_, start_, event.thread);
    if (withheld) {
      note({"privileges-withheld",
            "the program is set-user-ID, and runs without the privileges of its owner",
            "it may behave otherwise than without tracso",
            "run tracso as root, or look at the running process: tracso PID"});
    }
  }
  if (options_.on_executed) {
    options_.on_executed({MomentKind::elapsed,
                          process_.pid(),
                          process_.pid(),
                          Clock::now() - start_,
                          /*stopped=*/true});
  }
  process_.resume(event.thread);
}

void Session::on_breakpoint(const Event& event) {
  if (!program_) {
    process_.breakpoints().remove(event.thread, event.address);
  } else if (const Arrival arrival = program_->arrive(event); arrival != Arrival::nothing) {
    on_python(arrival == Arrival::python_begun ? MomentKind::python_begin : MomentKind::python_end);
  }
  process_.resume(event.thread);
}

void Session::on_python(MomentKind kind) {
  if (options_.on_python) {
    options_.on_python(
        {kind, process_.pid(), process_.pid(), Clock::now() - start_, /*stopped=*/true});
  }
  if (options_.breakpoints && kind == MomentKind::python_end) {
    take(kind, process_.pid());
  }
}

// At the exit of the main thread the memory is whole, unless it only ends itself (pthread_exit) and
// leaves other threads: then the last of them tells. When another thread ends, the main thread's
// own exit is still to come, unless it is the last.
bool Session::is_whole_at_exit(const Event& event) const {
  if (process_.threads_besides(event.thread) == 0) {
    return true;
  }
  if (event.thread != process_.pid()) {
    return false;
  }
  const auto registers = tracee::Registers::of(event.thread);
  const bool by_signal = WIFSIGNALED(event.value);
  return by_signal || !registers || !registers->ends_only_itself();
}

void Session::on_exiting(const Event& event) {
  if (executed_ && options_.on_thread_end) {
    const auto registers = tracee::Registers::of(event.thread);
    const bool alone = !WIFSIGNALED(event.value) && registers && registers->ends_only_itself();
    options_.on_thread_end({process_.pid(), event.thread, !alone});
  }
  if (executed_ && !taken_ && is_whole_at_exit(event)) {
    take(MomentKind::exit_stop, event.thread);
  }
  process_.resume(event.thread);
}

void Session::on_signal_to_command(const Event& event) {
  const bool end = event.value == SIGTERM || event.value == SIGHUP;
  const auto details =
      end || event.value == SIGCHLD ? tracee::signal_details(event.thread) : std::nullopt;
  if (details && end) {
    forwarding_.received_by_command({event.value, sender_of(*details)}, Clock::now());
  } else if (details && details->si_code != CLD_STOPPED && details->si_code != CLD_CONTINUED) {
    children_.died(details->si_pid);
  }
  process_.resume(event.thread, event.value);
}

void Session::on_ended(int status) {
  over_ = true;
  if (WIFEXITED(status)) {
    result_.exit_status = WEXITSTATUS(status);
  } else {
    result_.signal = WTERMSIG(status);
  }
}

}  // namespace tracso::launch
