#include "launch/run.hpp"

#include "launch/own_signals.hpp"
#include "launch/session.hpp"
#include "launch/spawn.hpp"
#include "tracee/guardian.hpp"
#include "tracee/traced_process.hpp"

#include <utility>

namespace tracso::launch {

std::string_view moment_name(MomentKind kind) {
  switch (kind) {
    case MomentKind::python_begin:
      return "Py_RunMain";
    case MomentKind::python_end:
      return "Py_FinalizeEx";
    case MomentKind::exit_stop:
      return "exit stop";
    case MomentKind::idle:
      return "idle";
    case MomentKind::elapsed:
      return "seconds";
    case MomentKind::detached:
      return "detached";
    case MomentKind::last_look:
      return "last look";
  }
  return "";
}

Result<RunResult> run_command(const RunOptions& options) {
  OwnSignals signals;
  // Before the command, whose pipes it should not hold.
  auto guardian = tracee::Guardian::start();
  auto command = HeldCommand::start(
      options.argv,
      options.output_to_stderr ? CommandOutputTo::our_stderr : CommandOutputTo::our_stdout,
      signals);
  if (!command) {
    return command.error();
  }
  const pid_t pid = command->pid();
  if (!options.trace) {
    return Session(options, signals, std::move(*command), tracee::TracedProcess::untraced(pid))
        .run();
  }
  auto traced = tracee::TracedProcess::seize(
      pid,
      options.follow_children ? tracee::ChildProcesses::followed : tracee::ChildProcesses::let_go);
  if (traced) {
    if (guardian) {
      traced->breakpoints().use(std::move(*guardian));
    }
    return Session(options, signals, std::move(*command), std::move(*traced)).run();
  }
  Session session(options, signals, std::move(*command), tracee::TracedProcess::untraced(pid));
  session.note({"tracing-not-permitted",
                "the command cannot be traced: " + traced.error().reason,
                "what is told of it is from the last look before it ended; what it loaded after "
                "that is missing",
                "allow ptrace(2): CAP_SYS_PTRACE, kernel.yama.ptrace_scope, the container's "
                "seccomp profile"});
  return session.run();
}

}  // namespace tracso::launch
