#pragma once
// The processes that a traced process has started and that are traced too, with their threads:
// who belongs to whom, and who stands still. All of ptrace happens elsewhere.

#include <sys/types.h>

#include <cstddef>
#include <map>
#include <set>
#include <vector>

namespace tracso::tracee {

class Offspring {
 public:
  void add(pid_t thread, pid_t process) { threads_[thread] = {process, false, false}; }

  bool has(pid_t thread) const { return threads_.count(thread) > 0; }

  /// 0: not known.
  pid_t process_of(pid_t thread) const;
  std::vector<pid_t> threads_of(pid_t process) const;
  /// Each process once.
  std::set<pid_t> processes() const;

  bool is_stopped(pid_t thread) const;
  void set_stopped(pid_t thread, bool stopped);

  /// The process runs another program; `thread` is the only one that is left.
  void executed(pid_t thread);
  /// A thread stands at its last stop. true, once for each program: the process ends with it, or
  /// (`takes_all`, where it is the main thread) all of the process does.
  bool ends(pid_t thread, bool takes_all);
  /// The thread is no more, or is not traced any more.
  void forget(pid_t thread);

 private:
  struct Thread {
    pid_t process = 0;
    bool stopped = false;
    bool ending = false;
  };

  std::map<pid_t, Thread> threads_;
  std::set<pid_t> told_;  // processes of which the end has been told
};

}  // namespace tracso::tracee
