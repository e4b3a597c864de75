#include "tracee/stop.hpp"

#include <sys/ptrace.h>
#include <sys/wait.h>

#include <csignal>

namespace tracso::tracee {
namespace {

bool stops_a_process(int signal) {
  return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

}  // namespace

Stop decode_status(int status) {
  if (WIFEXITED(status)) {
    return {StopKind::exited, WEXITSTATUS(status)};
  }
  if (WIFSIGNALED(status)) {
    return {StopKind::killed, WTERMSIG(status)};
  }
  if (!WIFSTOPPED(status)) {
    return {StopKind::other, 0};
  }
  const int signal = WSTOPSIG(status);
  if (status >> 16 == 0 && signal == (SIGTRAP | 0x80)) {  // PTRACE_O_TRACESYSGOOD
    return {StopKind::system_call, 0};
  }
  switch (static_cast<unsigned>(status) >> 16U) {
    case 0:
      return {StopKind::signal, signal};
    case PTRACE_EVENT_STOP:
      return {stops_a_process(signal) ? StopKind::group_stop : StopKind::trap, signal};
    case PTRACE_EVENT_FORK:
      return {StopKind::forked, 0};
    case PTRACE_EVENT_VFORK:
      return {StopKind::forked_shared, 0};
    case PTRACE_EVENT_CLONE:
      return {StopKind::cloned, 0};
    case PTRACE_EVENT_EXEC:
      return {StopKind::executed, 0};
    case PTRACE_EVENT_EXIT:
      return {StopKind::exiting, 0};
    default:
      return {StopKind::other, signal};
  }
}

}  // namespace tracso::tracee
