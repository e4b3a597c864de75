#pragma once
// One process under ptrace, with all its threads, from its start to its end.
//
// Rules that keep it as it would be without us: signals pass through, a stop by job control stays
// one (PTRACE_LISTEN), no child has a breakpoint in it, and nothing kills it when we die.
//
// Its children, and theirs, are either let go at their first instruction or traced to their end.
// Even then one is let go as soon as it asks to be traced by its parent, its parent seizes it, or
// it executes a program that tracing would deprive of its privileges: see call_windows.hpp.
//
// All calls come from the one thread that has called seize().

#include "tracso/result.hpp"

#include "tracee/breakpoints.hpp"
#include "tracee/call_windows.hpp"
#include "tracee/offspring.hpp"
#include "tracee/registers.hpp"
#include "tracee/stop.hpp"

#include <sys/types.h>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>

namespace tracso::tracee {

/// Are its children traced to their end, or let go at birth?
enum class ChildProcesses : std::uint8_t { let_go, followed };

/// What the owner is told. The thread stands still until resume() is called for it, but not for
/// `born`, `job_stopped`, `job_continued`, `ended`, `child_executed` and `child_let_go`.
struct Event {
  enum class Kind : std::uint8_t {
    executed,        ///< a new program: all other threads are gone, breakpoints are forgotten
    breakpoint,      ///< the thread has come to `address`; the breakpoint is still inserted
    signal,          ///< signal `value` is about to be delivered; to be given to resume()
    exiting,         ///< the thread ends; its memory is whole; `value` is a wait status
    born,            ///< `value` is the number of a child process, or of a child's child
    job_stopped,     ///< signal `value` has stopped the process
    job_continued,   ///< SIGCONT has ended that; not told of one that is not traced
    ended,           ///< the process is no more; `value` is its wait status
    child_executed,  ///< process `value` runs another program
    child_exiting,   ///< process `value` ends; its memory is whole, and in `thread`
    child_let_go     ///< process `value` is not followed any more, for it could not be
  };
  Kind kind = Kind::ended;
  pid_t thread = 0;
  int value = 0;
  std::uint64_t address = 0;
  std::optional<Registers> registers = {};  ///< of a thread at a breakpoint
  /// It stands behind the function that begins at `address`, not at it (AtBreakpoint::returns).
  bool returned = false;
};

class TracedProcess {
 public:
  /// Begins to trace a child of ours that has one thread. denied: the kernel or a sandbox does not
  /// allow it, or another tracer is there.
  static Result<TracedProcess> seize(pid_t child, ChildProcesses children = ChildProcesses::let_go);
  /// A child of ours that is not traced, as after release().
  static TracedProcess untraced(pid_t child);

  pid_t pid() const { return pid_; }

  /// The next thing that has happened; nullopt: nothing more for now (SIGCHLD announces more).
  std::optional<Event> next();
  void resume(pid_t thread, int signal = 0);

  /// Stops every thread, except those that the kernel keeps asleep beyond the limit. What they had
  /// to tell is kept for release().
  void stop_all(std::chrono::milliseconds limit);

  /// Stops every thread, takes all breakpoints out and lets all run on untraced. A thread that
  /// could not be stopped in time is let go as soon as next() hears of it. After that next() tells
  /// of job_stopped and ended only. The children are let go too.
  void release(std::chrono::milliseconds limit);

  /// Lets the children go that are still followed.
  void release_children(std::chrono::milliseconds limit);

  /// Those that are followed now.
  std::set<pid_t> children() const { return offspring_.processes(); }

  /// How many threads would be left if this one ended now.
  std::size_t threads_besides(pid_t thread) const;
  /// Any thread that stands still now; 0: none.
  pid_t stopped_thread() const;

  bool is_released() const { return released_; }

  Breakpoints& breakpoints() { return breakpoints_; }

  const Breakpoints& breakpoints() const { return breakpoints_; }

 private:
  struct Thread {
    bool stopped = false;
    bool ending = false;  // has reported its exit
    bool guest = false;   // of another process that shares the memory (CLONE_VM)
    bool free = false;    // not traced any more
    bool waits = false;   // in a stop of job control
  };

  explicit TracedProcess(pid_t child) : pid_(child) { threads_[child] = {}; }

  std::optional<Report> next_report();

  std::optional<Event> digest(Report report);
  std::optional<Event> digest_end(Report report);
  std::optional<Event> digest_signal(pid_t thread, int signal);
  bool stands_behind_breakpoint(const Registers& registers) const;
  std::optional<std::uint64_t> breakpoint_of(pid_t thread,
                                             int signal,
                                             const Registers& registers) const;
  std::optional<Event> digest_exec(pid_t thread);
  std::optional<Event> digest_birth(pid_t parent, StopKind kind);
  std::optional<Event> digest_group_stop(pid_t thread, int signal);
  std::optional<Event> digest_stop(pid_t thread, Stop stop);
  std::optional<Event> digest_child(Report report);
  std::optional<Event> digest_child_stop(pid_t thread, Stop stop);
  void digest_child_birth(pid_t parent);
  std::optional<Event> digest_call(pid_t thread);
  std::optional<Event> digest_guest_exec(pid_t thread);
  void resume_child(pid_t thread, int signal);
  void forget_child(pid_t thread);
  void adopt_orphans(bool of_command);
  void follow_child(pid_t child);
  void leave_child(pid_t child, std::chrono::milliseconds limit);
  void leave_caller(pid_t thread);
  bool stands_at_first_stop(pid_t child);
  void let_child_go(pid_t child, StopKind kind);
  void let_orphans_go();

  pid_t pid_;
  std::map<pid_t, Thread> threads_;
  std::map<pid_t, int> early_;   // first stops of newborns whose parent has not told of them yet
  std::deque<Report> deferred_;  // came while everything was being stopped
  Breakpoints breakpoints_;
  ChildProcesses follow_ = ChildProcesses::let_go;
  Offspring offspring_;
  CallWindows windows_;
  std::set<pid_t> leaving_;    // children to be let go at their next stop
  std::deque<Event> pending_;  // to be told next
  bool released_ = false;
};

}  // namespace tracso::tracee
