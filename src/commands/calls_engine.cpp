#include "commands/calls_engine.hpp"

#include "base/text.hpp"
#include "calls/engine.hpp"
#include "commands/command_path.hpp"
#include "commands/command_user.hpp"
#include "commands/engine_output.hpp"
#include "commands/output.hpp"
#include "launch/job_control.hpp"
#include "launch/own_signals.hpp"
#include "launch/privileges.hpp"
#include "launch/spawn.hpp"
#include "tracee/guardian.hpp"

#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <functional>
#include <utility>

namespace tracso {
namespace {

using launch::HeldCommand;
using launch::OwnSignals;
using std::chrono::milliseconds;

// When the command is stopped by job control, so are we (launch/job_control.hpp).
void stop_with_command(calls::Engine& engine, launch::JobControl& job, OwnSignals& signals) {
  tracee::Guardian* guardian = engine.guardian();
  if (!job.is_time_to_stop(guardian != nullptr)) {
    return;
  }
  if (guardian != nullptr) {
    guardian->stopping();
  }
  const pid_t by = signals.stop_us();
  if (guardian != nullptr) {
    guardian->running();
  }
  job.we_go_on(guardian != nullptr && by == guardian->pid(), launch::JobControl::Clock::now());
}

void take_job(calls::Engine& engine, launch::JobControl& job) {
  switch (engine.take_job()) {
    case calls::Engine::Job::stopped:
      job.stopped(/*traced=*/true);
      break;
    case calls::Engine::Job::continued:
      job.continued();
      break;
    default:
      break;
  }
}

// Stays with the command to its end. Ctrl-C reaches it by itself; what is sent to us to end us is
// passed on.
int stay_with(pid_t pid,
              calls::Engine& engine,
              OwnSignals& signals,
              EngineOutput& output,
              const std::function<void()>& on_executed) {
  constexpr std::size_t most_at_once = 256;  // a busy command must not keep us from our signals
  constexpr milliseconds longest_sleep{250};
  launch::JobControl job;
  bool told = false;
  while (!engine.ended()) {
    const bool more = engine.work(engine.executed() ? most_at_once : 1);
    take_job(engine, job);
    if (engine.executed() && !std::exchange(told, true)) {
      on_executed();
    }
    output.write();
    if (engine.ended()) {
      break;
    }
    const auto signal = signals.wait(more ? milliseconds(0) : job.limited(longest_sleep));
    if (signal.number == 0 && !more) {
      stop_with_command(engine, job, signals);
    }
    if (signal.number == SIGTSTP || signal.number == SIGTTIN || signal.number == SIGTTOU) {
      job.asked_to_stop();
    }
    if ((signal.number == SIGTERM || signal.number == SIGHUP) && signal.sender != 0) {
      ::kill(pid, signal.number);
    }
    if (job.is_to_be_continued(launch::JobControl::Clock::now())) {
      ::kill(pid, SIGCONT);
    }
  }
  return *engine.ended();
}

CallsReport report_of(const CallsRequest& request, int status) {
  CallsReport report;
  report.command = request.command;
  report.exit_status = WIFEXITED(status) ? std::optional(WEXITSTATUS(status)) : std::nullopt;
  report.signal = WIFSIGNALED(status) ? std::optional(WTERMSIG(status)) : std::nullopt;
  return report;
}

// Said once the program runs: then its privileges can be seen.
std::optional<Notice> withheld_privileges(const calls::EngineDoors& doors, pid_t pid) {
  const auto process = doors.process(pid);
  if (!process || !launch::lacks_privileges(**process)) {
    return std::nullopt;
  }
  return Notice{"privileges-withheld",
                "the program is set-user-ID, and runs without the privileges of its owner",
                "it may behave otherwise than without tracso",
                "run tracso as root"};
}

}  // namespace

int calls_by_engine(const CallsRequest& request) {
  EngineOutput output(request);
  if (const auto ready = output.open(); !ready) {
    return fail(ready.error());
  }
  std::optional<launch::CommandUser> user;
  if (!request.user.empty()) {
    auto found = user_for_command(request.user);
    if (!found) {
      return fail(found.error());
    }
    user = std::move(*found);
  }
  const auto options = engine_options(request);
  const auto doors = live_engine_doors();
  calls::Engine engine(options, doors, output.begin());
  OwnSignals signals;
  auto command = HeldCommand::start(
      request.command, output_of_command(request), signals, user ? &*user : nullptr);
  const auto not_run = [&](const Error& found) {
    const auto error = with_path_hint(found);
    return output.not_run(error, fail_to_start(error));
  };
  if (!command) {
    return not_run(command.error());
  }
  if (const auto traced = engine.trace(command->pid()); !traced) {
    auto error = traced.error();
    error.hint = "ptrace(2) must be allowed: CAP_SYS_PTRACE, kernel.yama.ptrace_scope, seccomp";
    return output.not_run(error, fail(error));
  }
  command->go();
  std::optional<Notice> withheld;
  const int status = stay_with(command->pid(), engine, signals, output, [&] {
    withheld = withheld_privileges(doors, command->pid());
  });
  if (!engine.executed()) {
    if (const auto failure = command->failure()) {
      return not_run(*failure);
    }
  }
  auto report = report_of(request, status);
  if (withheld) {
    report.notices.push_back(*withheld);
  }
  return output.finish(engine, std::move(report), status);
}

}  // namespace tracso
