#pragma once
// The processes that the command has started: their numbers, and the best name to be had for each.
//
// One that is followed tells when it becomes another program, and is looked at when it ends. One
// that was let go tells nothing: it is looked at a few times after its birth, at ever longer
// intervals, until its name is not its parent's any more; and once more as a zombie, if its parent
// leaves us the time.

#include "launch/child_looks.hpp"
#include "launch/run.hpp"

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace tracso::launch {

enum class ChildIs : std::uint8_t { followed, let_go };

class Children {
 public:
  using Clock = std::chrono::steady_clock;

  /// A child was born. Beyond 10,000 they are counted only.
  void born(pid_t pid, ChildIs is, Clock::time_point now);
  /// It was followed, and is not any more.
  void let_go(pid_t pid, Clock::time_point now);
  /// A child has died and may still be a zombie: its last name.
  void died(pid_t pid);
  /// A child has become another program.
  void executed(pid_t pid);
  /// A child has been looked at.
  void looked_at(pid_t pid, ChildLook look);
  /// Is there something to be learned of that one?
  bool is_open(pid_t pid) const;
  /// Asks for the names of those that live.
  void look();
  /// Only the children that still live.
  void keep_living();

  /// When the next look is due; nullopt: there is none.
  std::optional<Clock::time_point> next_look() const;
  /// Makes the looks that are due.
  void look_if_due(Clock::time_point now);

  /// What `looks` says of those that were looked at.
  std::vector<RunChild> list(const ChildLooks& looks) const;

  /// How many are not in the list.
  std::size_t untold() const { return untold_; }

 private:
  struct Living {
    std::size_t place = 0;  // in the list
    Clock::time_point next_look;
    std::chrono::milliseconds interval{0};  // 0: no more looks
  };

  struct Entry {
    RunChild child;
    std::shared_ptr<const CodeFiles> files;
  };

  std::vector<Entry> list_;
  std::map<pid_t, Living> living_;
  std::size_t untold_ = 0;
};

}  // namespace tracso::launch
