#pragma once
// Threads whose next system calls are watched, for a short while.
//
// Right after fork a process shows what it is about: a debugger's child asks to be traced, its
// parent seizes it, a shell's child executes a set-user-ID program. Each of these would fail if we
// went on tracing. Watching costs two stops for each call, so it ends soon.

#include <sys/types.h>

#include <map>

namespace tracso::tracee {

class CallWindows {
 public:
  /// After a fork: of the one who has called it, and of the newborn (mostly until its exec).
  void open_for_parent(pid_t thread) { left_[thread] = 2 * calls_of_parent; }

  void open_for_child(pid_t thread) { left_[thread] = 2 * calls_of_child; }

  void close(pid_t thread) { left_.erase(thread); }

  /// One stop at a system call has come.
  void count(pid_t thread);
  /// Lets a stopped thread run on, to its next system call where they are watched.
  void resume(pid_t thread, int signal) const;

 private:
  static constexpr unsigned calls_of_parent = 24, calls_of_child = 200;

  std::map<pid_t, unsigned> left_;  // stops to come
};

}  // namespace tracso::tracee
