#pragma once
// Our own signals while a command runs: kept waiting and asked for one by one, so that nothing is
// interrupted and nothing gets lost.

#include <sys/types.h>

#include <chrono>
#include <csignal>

namespace tracso::launch {

/// A signal that was sent to us.
struct OwnSignal {
  int number = 0;    ///< 0: none
  pid_t sender = 0;  ///< 0: the kernel
};

/// Who has sent a signal, as its details say; 0: the kernel.
pid_t sender_of(const siginfo_t& details);

/// From construction to destruction SIGCHLD, SIGINT, SIGQUIT, SIGTERM, SIGHUP and the stop signals
/// of the terminal are blocked in this thread, but for those that are ignored. Whoever starts a
/// program meanwhile has to unblock them there.
class OwnSignals {
 public:
  OwnSignals();
  /// Gives back the former state. Signals that are still waiting were the command's.
  ~OwnSignals();
  OwnSignals(const OwnSignals&) = delete;
  OwnSignals& operator=(const OwnSignals&) = delete;

  /// In a child, before exec: exactly the state that we were started with. Async-signal-safe.
  void restore_in_child() const;

  /// The next signal, none if it does not come in time.
  OwnSignal wait(std::chrono::milliseconds limit) const;

  /// Stops us, so that our shell notices, and returns when we are continued: by whom, 0 for the
  /// kernel or not known. Requests to stop that are still waiting are met by it.
  pid_t stop_us();

 private:
  sigset_t watched_{};
  sigset_t former_mask_{};

  struct sigaction former_child_action_ {};
};

}  // namespace tracso::launch
