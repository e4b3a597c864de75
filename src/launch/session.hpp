#pragma once
// One run of a command: what is done about each thing that happens to it.

#include "launch/child_looks.hpp"
#include "launch/children.hpp"
#include "launch/forwarding.hpp"
#include "launch/job_control.hpp"
#include "launch/own_signals.hpp"
#include "launch/program.hpp"
#include "launch/quiet.hpp"
#include "launch/run.hpp"
#include "launch/spawn.hpp"
#include "tracee/traced_process.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace tracso::launch {

class Session {
 public:
  using Clock = std::chrono::steady_clock;

  Session(const RunOptions& options,
          OwnSignals& signals,
          HeldCommand command,
          tracee::TracedProcess process);

  /// Lets the command go and stays with it to the end.
  Result<RunResult> run();

  /// Something the caller should know.
  void note(Notice notice) { result_.notices.push_back(std::move(notice)); }

 private:
  using Event = tracee::Event;

  // A thread that waits for a child of vfork or for a disk cannot be stopped; the others are.
  static constexpr std::chrono::milliseconds stop_limit{1000};

  void handle(const Event& event);
  void on_executed(const Event& event);
  void on_breakpoint(const Event& event);
  void on_python(MomentKind kind);
  void on_exiting(const Event& event);
  void on_signal_to_command(const Event& event);
  void on_child_executed(std::int32_t pid);
  void on_child_exiting(const Event& event);
  void on_ended(int status);
  void on_own_signal(OwnSignal signal);
  void forward_due();
  void stop_with_command();
  void on_time();
  void tell_interval();
  void on_quiet_watch();
  void look_untraced();

  bool is_whole_at_exit(const Event& event) const;
  void look_at_child(std::int32_t pid, std::int32_t thread, bool stopped);
  void look_at_living();
  std::optional<CodeFiles> files_of_command(pid_t thread) const;
  Result<RunResult> finish();

  void take(MomentKind kind, pid_t thread);
  void take_and_release(MomentKind kind);
  std::chrono::milliseconds patience() const;

  const RunOptions& options_;
  OwnSignals& signals_;
  HeldCommand command_;
  tracee::TracedProcess process_;
  Children children_;
  ChildLooks looks_;
  Forwarding forwarding_;
  JobControl job_;
  QuietWatch quiet_;
  std::optional<Program> program_;
  RunResult result_;
  Clock::time_point start_, next_look_, next_interval_;
  std::string last_maps_;
  int interruptions_ = 0;
  bool traced_ = true;
  bool executed_ = false;  // it runs the command, not our copy any more
  bool taken_ = false;     // the moment has come for the program that runs now
  bool over_ = false;
};

}  // namespace tracso::launch
