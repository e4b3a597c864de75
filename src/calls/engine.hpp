#pragma once
// Sees calls from outside, by ptrace(2): where no agent can get in (statically linked programs,
// set-user-ID ones), and what an agent does not see (entry points of functions, system calls).
//
// A breakpoint stands where a function begins, and, from its first call on, where it returns to.
// The stack stays as it is, so exceptions, longjmp and debuggers find what they expect; a call that
// never comes back is forgotten as soon as something happens above it on the stack. A thread passes
// a breakpoint by having its instruction carried out here, or by itself at another place, or, where
// neither can be, by one step while all other threads of its memory stand still: so no call is
// missed.
//
// Children are let go at their birth, without breakpoints in them, or followed. When we are killed,
// a guardian takes the breakpoints out and the command runs on. Costs some 50 to 150 us for each
// call.

#include "tracso/result.hpp"
#include "tracso/trace.hpp"

#include "calls/arena.hpp"
#include "calls/call_sink.hpp"
#include "calls/engine_places.hpp"
#include "calls/engine_tracees.hpp"
#include "tracee/call_stop.hpp"
#include "tracee/registers.hpp"
#include "tracee/requests.hpp"

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

namespace tracso::calls {

struct EngineOptions {
  WatchedCalls watched;
  bool system_calls = false;
  bool follow = false;  ///< children and what they exec
  bool places = false;  ///< tell where calls come from
  std::uint32_t text_bytes = 32;
  std::shared_ptr<PrototypeFinder> prototypes = std::make_shared<PrototypeFinder>();
};

class Engine {
 public:
  /// `sink`, `doors` and `options` must outlive it.
  Engine(const EngineOptions& options, const EngineDoors& doors, CallSink& sink);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Begins to trace a child of ours that waits to execute the command. denied: the kernel or a
  /// sandbox does not allow it, or another tracer is there.
  Result<Done> trace(pid_t child);

  /// Begins to trace a process that runs already, for its system calls only: no breakpoint is made
  /// in it. denied, not_found: as of trace().
  Result<Done> attach(const ProcessSource& process);
  /// Lets all go, as if nothing had been: what waits in a system call goes on waiting. false: one
  /// of them did not stop in time; the kernel lets it go when we end.
  bool leave();

  /// Deals with what has happened, at most so many things; false: nothing more for now (SIGCHLD
  /// announces more).
  bool work(std::size_t most);

  /// The wait status of the command, once it has ended.
  std::optional<int> ended() const { return status_; }

  /// It runs the command, not our copy any more.
  bool executed() const { return executed_; }

  enum class Job : std::uint8_t { unchanged, stopped, continued };
  /// What job control has done to the command since the last question.
  Job take_job();

  /// May wake us when we are stopped; nullptr: there is none.
  tracee::Guardian* guardian();

  /// What the reader of the answer should know.
  std::vector<Notice> notices() const;

  /// Programs that were traced.
  const std::vector<TracedProgram>& programs() const { return told_programs_; }

  const TickRate& rate() const { return rate_; }

 private:
  using Report = tracee::Report;
  using Registers = tracee::Registers;

  std::optional<Report> next_report();
  void digest(Report report);
  void digest_stop(EngineThread& thread, tracee::Stop stop);
  void on_signal(EngineThread& thread, int signal);
  void on_birth(EngineThread& parent, tracee::StopKind kind);
  void on_exec(EngineThread& thread);
  void on_end(Report report);
  void on_group_stop(EngineThread& thread);
  void resume(EngineThread& thread, int signal = 0);

  // engine_attach.cpp
  std::chrono::nanoseconds time_in_call(const EngineThread& thread) const;
  bool leave_thread(EngineThread& thread, tracee::Stop stop);

  // engine_births.cpp
  void adopt(pid_t child, const EngineThread* parent);
  void adopt_copy(pid_t child, EngineProcess& parent, const EngineThread* thread);
  void adopt_orphans();
  EngineThread& add_thread(pid_t number, std::shared_ptr<EngineProcess> process);
  std::uint32_t begin_program(pid_t pid);
  void give_guardian(EngineMemory& memory);

  // engine_calls.cpp
  void on_breakpoint(EngineThread& thread, std::uint64_t address, Registers& registers);
  void add_entry(EngineThread& thread, const Registers& registers, std::uint32_t entry);
  void add_call(EngineThread& thread, const Registers& registers, std::uint32_t site);
  void add_returns(EngineThread& thread, const Registers& registers, std::uint64_t address);
  void end_call(EngineThread& thread, const UnderWay& call, const Registers& registers);
  void on_system_call(EngineThread& thread);
  void begin_system_call(EngineThread& thread, const tracee::CallStop& stop);
  void end_system_call(EngineThread& thread, const tracee::CallStop& stop);
  std::string place_of(const EngineThread& thread, std::uint64_t address) const;

  // engine_step.cpp
  void pass(EngineThread& thread, std::uint64_t address, Registers& registers);
  bool step_elsewhere(EngineThread& thread, std::uint64_t address, Registers& registers);
  void end_move(EngineThread& thread);
  void step_over(EngineThread& thread, std::uint64_t address);
  void hold_others(const EngineThread& thread, std::vector<EngineThread*>& held);

  const EngineOptions& options_;
  const EngineDoors& doors_;
  CallSink& sink_;
  std::unique_ptr<tracee::Guardian> first_guardian_;
  EngineSites sites_;
  EnginePlaces places_;
  TickRate rate_;
  pid_t pid_ = 0;
  std::map<pid_t, EngineThread> threads_;

  struct Early {
    int status = 0;
    std::chrono::steady_clock::time_point since;
  };

  std::map<pid_t, Early> early_;  // first stops of newborns of which nobody has told yet
  std::deque<Report> deferred_;   // came while somebody was held
  std::optional<int> status_;
  Job job_ = Job::unchanged;
  bool executed_ = false;
  std::uint32_t programs_ = 0;
  std::vector<TracedProgram> told_programs_;
  std::uint64_t children_let_go_ = 0, returns_unseen_ = 0, asked_to_be_traced_ = 0, foreign_ = 0;
};

}  // namespace tracso::calls
