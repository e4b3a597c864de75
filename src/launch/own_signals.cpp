#include "launch/own_signals.hpp"

#include <unistd.h>

#include <ctime>
#include <initializer_list>

namespace tracso::launch {
namespace {

sigset_t set_of(std::initializer_list<int> signals) {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : signals) {
    sigaddset(&set, signal);
  }
  return set;
}

// What we were started with to ignore (nohup) stays ignored.
sigset_t watched() {
  sigset_t set = set_of({SIGCHLD, SIGTSTP, SIGTTIN, SIGTTOU});
  for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP}) {
    struct sigaction action {};

    if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler != SIG_IGN) {
      sigaddset(&set, signal);
    }
  }
  return set;
}

OwnSignal take(const sigset_t& set, std::chrono::milliseconds limit) {
  timespec time{};
  time.tv_sec = static_cast<std::time_t>(limit.count() / 1000);
  time.tv_nsec = static_cast<long>(limit.count() % 1000) * 1'000'000;
  siginfo_t details{};
  const int signal = sigtimedwait(&set, &details, &time);
  return signal > 0 ? OwnSignal{signal, sender_of(details)} : OwnSignal{};
}

}  // namespace

pid_t sender_of(const siginfo_t& details) {
  // SI_USER, SI_QUEUE, SI_TKILL; what the kernel sends by itself has a positive code.
  return details.si_code <= 0 ? details.si_pid : 0;
}

OwnSignals::OwnSignals() : watched_(watched()) {
  pthread_sigmask(SIG_BLOCK, &watched_, &former_mask_);

  // Were it ignored, children would vanish without an exit status.
  struct sigaction action {};

  action.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &action, &former_child_action_);
}

OwnSignals::~OwnSignals() {
  while (wait(std::chrono::milliseconds(0)).number != 0) {
  }
  restore_in_child();
}

void OwnSignals::restore_in_child() const {
  sigaction(SIGCHLD, &former_child_action_, nullptr);
  pthread_sigmask(SIG_SETMASK, &former_mask_, nullptr);
}

OwnSignal OwnSignals::wait(std::chrono::milliseconds limit) const {
  return take(watched_, limit);
}

pid_t OwnSignals::stop_us() {
  const sigset_t requests = set_of({SIGTSTP, SIGTTIN, SIGTTOU});
  const auto none = std::chrono::milliseconds(0);
  while (take(requests, none).number != 0) {
  }
  // Blocked, it still continues us, and then tells who has sent it.
  const sigset_t continued = set_of({SIGCONT});
  pthread_sigmask(SIG_BLOCK, &continued, nullptr);
  kill(getpid(), SIGSTOP);
  const pid_t sender = take(continued, none).sender;
  pthread_sigmask(SIG_UNBLOCK, &continued, nullptr);
  return sender;
}

}  // namespace tracso::launch
