#pragma once
// SIGTERM and SIGHUP that are sent to us while a command runs are meant for the command: it gets
// them, unless it has got them already.
//
// Who ends a job mostly signals its whole process group (a terminal that hangs up, timeout(1)), and
// then the command has its own copy. So a signal is kept back for a moment, and dropped if the
// command receives the same from the same sender. For the same reason a repetition within a
// fraction of a second is not a second one; a second one means: let it go.

#include "launch/own_signals.hpp"

#include <chrono>
#include <optional>
#include <vector>

namespace tracso::launch {

class Forwarding {
 public:
  using Clock = std::chrono::steady_clock;

  /// A signal has been sent to us. false: it is a second one.
  bool sent_to_us(OwnSignal signal, Clock::time_point now);
  /// The command has received one.
  void received_by_command(OwnSignal signal, Clock::time_point now);

  /// When the next one is to be given to the command; nullopt: none waits.
  std::optional<Clock::time_point> next() const;
  /// Those that are due; they are not told again.
  std::vector<int> take_due(Clock::time_point now);

 private:
  struct Waiting {
    OwnSignal signal;
    Clock::time_point due;
  };

  std::vector<Waiting> waiting_;
  OwnSignal received_;
  Clock::time_point received_at_;
  std::optional<Clock::time_point> first_;  // when the first was sent to us
  int last_ = 0;                            // the last one's number
};

}  // namespace tracso::launch
