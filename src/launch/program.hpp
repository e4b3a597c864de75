#pragma once
// The program that a traced process runs now: what is watched in it from its first instruction on.

#include "launch/load_watch.hpp"
#include "launch/program_start.hpp"
#include "launch/python_end.hpp"
#include "launch/run.hpp"
#include "python/import_chain.hpp"
#include "tracee/traced_process.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace tracso::launch {

/// What a stop at one of its breakpoints has come to.
enum class Arrival : std::uint8_t {
  nothing,       ///< resume it
  python_begun,  ///< a Python is about to run its program (on_python)
  python_whole   ///< the last moment of a whole Python is now
};

class Program {
 public:
  using Clock = std::chrono::steady_clock;

  /// Just exec'ed; `stopped` is its only thread. Without on_load and record_loads the loader is
  /// left alone. Times are counted from `start`.
  Program(tracee::TracedProcess& process,
          std::unique_ptr<ProcessSource> door,
          const RunOptions& options,
          Clock::time_point start,
          pid_t stopped);
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// A thread has come to one of our breakpoints. It is left ready to be resumed.
  Arrival arrive(const tracee::Event& stop);

  /// Does now, after that thread has been resumed, what can be done while it runs.
  void look_ahead();

  /// A Python was found in it whose end is watched.
  bool watches_python() const { return python_found_; }

  /// Learns what the first chain of imports will need, when that is due: a piece at a time, while
  /// the program runs, until its Python has begun to work.
  void prepare(Clock::time_point now);
  /// When it is due; nullopt: it is done, or there is nothing to learn.
  std::optional<Clock::time_point> next_preparation() const;

  /// What the loader has refused so far, with record_loads.
  std::vector<FailedLoad> failures() const;

  /// Moves what the loader did into the result, with record_loads.
  void give_loads(RunResult& result);

 private:
  bool watches_loads() const { return options_.on_load || options_.record_loads; }

  void watch_loader(pid_t stopped, ElfClass elf_class);
  ImportsDoor imports_door();
  Imports imports_of(
      const std::function<std::vector<python::ImportStep>(python::ImportChainReader&)>& read);
  bool brings_python(const std::vector<loader::NewObject>& objects) const;
  void arrive_at_loader(const tracee::Event& stop);
  void tell_loader_event(pid_t thread);
  void watch_python(pid_t stopped);

  tracee::TracedProcess& process_;
  std::unique_ptr<ProcessSource> door_;
  const RunOptions& options_;
  Clock::time_point start_;
  StartFacts facts_;
  std::optional<LoaderHook> hook_;
  std::optional<LoadWatch> loads_;
  std::optional<python::ImportChainReader> imports_;
  PythonEnd python_;
  Clock::time_point next_preparation_{};
  bool python_found_ = false;
  bool started_ = false;  // all that belongs to the start is mapped

  struct Change {
    Clock::time_point began;
    bool removal = false;
  };

  std::map<pid_t, Change> changes_;  // begun and not yet complete, by the thread that makes them
};

}  // namespace tracso::launch
