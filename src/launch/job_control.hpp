#pragma once
// When the command is stopped by job control, so are we: our shell waits for us, not for it, and
// would wait for ever. By what it was stopped (Ctrl-Z, a signal from itself or from elsewhere)
// makes no difference, as it makes none for a command that a shell runs without us.
//
// We stop a moment later, when all of its threads and children have told of their stops. A guardian
// continues us when the command goes on without us; where there is none, or the command is not
// traced any more, we stop only where the terminal has asked us to. And somebody may continue us
// and not the command: then we pass that on.

#include <algorithm>
#include <chrono>

namespace tracso::launch {

class JobControl {
 public:
  using Clock = std::chrono::steady_clock;

  /// The command has been stopped. `traced`: we shall hear of its going on.
  void stopped(bool traced) {
    is_stopped_ = true;
    traced_ = traced;
  }

  void continued() {
    is_stopped_ = false;
    pass_on_ = never;
  }

  /// A stop signal was sent to us.
  void asked_to_stop() { asked_ = true; }

  /// How long to wait for more before we stop.
  std::chrono::milliseconds limited(std::chrono::milliseconds patience) const {
    const bool soon = is_stopped_ || pass_on_ != never;
    return soon ? std::min(patience, calm) : patience;
  }

  /// Nothing has happened for a while.
  bool is_time_to_stop(bool can_be_woken) const {
    return is_stopped_ && pass_on_ == never && (asked_ || (traced_ && can_be_woken));
  }

  /// We have been stopped, and go on. `by_guardian`: because the command has news.
  void we_go_on(bool by_guardian, Clock::time_point now) {
    asked_ = false;
    if (!traced_) {
      is_stopped_ = false;  // nobody tells when it goes on
    } else if (!by_guardian) {
      pass_on_ = now + grace;
    }
  }

  /// We were continued, and the command has not been so by itself.
  bool is_to_be_continued(Clock::time_point now) {
    if (now < pass_on_) {
      return false;
    }
    pass_on_ = never;
    return is_stopped_;
  }

 private:
  static constexpr std::chrono::milliseconds calm{10}, grace{50};
  static constexpr Clock::time_point never = Clock::time_point::max();

  bool is_stopped_ = false;
  bool traced_ = true;
  bool asked_ = false;
  Clock::time_point pass_on_ = never;
};

}  // namespace tracso::launch
