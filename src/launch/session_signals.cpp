// What a session does about signals that are sent to us, and about stops of job control.

#include "launch/session.hpp"

#include <csignal>

namespace tracso::launch {

void Session::on_own_signal(OwnSignal signal) {
  bool enough = false;
  switch (signal.number) {
    case SIGTSTP:
    case SIGTTIN:
    case SIGTTOU:
      job_.asked_to_stop();
      break;
    case SIGINT:
      enough = ++interruptions_ == 2;  // the first is the command's
      break;
    case SIGTERM:
    case SIGHUP:
      enough = !forwarding_.sent_to_us(signal, Clock::now());
      break;
    default:
      break;
  }
  if (!enough) {
    return;
  }
  if (executed_ && !taken_) {
    take_and_release(MomentKind::detached);
  }
  process_.release(stop_limit);
  result_.interrupted_by = signal.number;
  over_ = true;
}

void Session::stop_with_command() {
  tracee::Guardian* guardian = process_.breakpoints().guardian();
  const bool look_awaited = options_.at != At::exit && !taken_;
  if (!job_.is_time_to_stop(guardian != nullptr && !look_awaited)) {
    return;
  }
  if (guardian != nullptr) {
    guardian->stopping();
  }
  const pid_t by = signals_.stop_us();
  if (guardian != nullptr) {
    guardian->running();
  }
  job_.we_go_on(guardian != nullptr && by == guardian->pid(), Clock::now());
}

void Session::forward_due() {
  for (const int signal : forwarding_.take_due(Clock::now())) {
    kill(process_.pid(), signal);
  }
}

}  // namespace tracso::launch
