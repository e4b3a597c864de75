#pragma once
// Who has brought in each object of a program, and what its loader has refused.
//
// The loader calls a function of its own whenever its lists are complete again; a thread stopped
// there holds the loader's lock, so the lists stand still. What is new in them came with the dlopen
// that this thread is in, whose caller lies on its stack (glibc) or was noted when it began (musl).
// Before the program's first instruction there is no dlopen: that is the start.
//
// A dlopen stops when all of its objects are mapped and none has run. There the state of the list,
// the innermost part of the stack and the imports under way are read. The objects stay until the
// loader tells that some are to go, so their records and names are read when the thread runs again,
// and the frame of dlopen is looked for then.
//
// Without a gate (loader_gate.hpp) it also stops before the first object is mapped. Between the two
// its thread is inside the loader, so what lies below on its stack stands still although it runs:
// the imports are read then. It cannot get any further before the second stop is over.
//
// What glibc refuses is read where it signals: see loader_errors.hpp. Of musl: musl_dlopen.hpp, and
// musl_start.hpp for the start.

#include "elf/memory_image.hpp"
#include "launch/code_owners.hpp"
#include "launch/dlopen_call.hpp"
#include "launch/entry_hooks.hpp"
#include "launch/load_log.hpp"
#include "launch/loader_gate.hpp"
#include "launch/musl_dlopen.hpp"
#include "launch/program_start.hpp"
#include "launch/run.hpp"
#include "loader/link_map_follower.hpp"
#include "python/import_chain.hpp"
#include "tracee/traced_process.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tracso::launch {

/// The imports under way in a thread (python::ImportChainReader::chain).
struct Imports {
  std::vector<python::ImportStep> steps;
  bool complete = true;  ///< false: a part could not be read
};

/// Reads those of a thread that stands still, or runs inside the loader.
struct ImportsDoor {
  /// Fetches what the next reading will ask for; may be left out.
  std::function<void()> fetch;
  std::function<Imports(python::ThreadKey thread)> read;
  /// The same in less time, of a thread that stands still.
  std::function<Imports(python::ThreadKey thread)> glance;
  /// Ahead of the next: what can be done when the thread runs again.
  std::function<void()> tidy;
};

class LoadWatch {
 public:
  using Clock = std::chrono::steady_clock;

  /// Just exec'ed; `stopped` is its only thread. `process` and `door` must outlive this. Times are
  /// counted from `start`.
  LoadWatch(tracee::TracedProcess& process,
            const ProcessSource& door,
            const StartFacts& facts,
            const LoaderHook& hook,
            Clock::time_point start,
            pid_t stopped,
            ImportsDoor imports);

  /// What has come is needed at once, or when the thread runs again.
  enum class Objects : std::uint8_t { at_once, later };

  /// A thread has come to the loader's hook. The objects that have come; of those that are taken
  /// later nothing is told here.
  std::vector<loader::NewObject> at_loader(const tracee::Event& stop, Objects objects);

  /// The thread that has come there has been resumed: reads what stands still although it runs.
  /// To be called before anything else happens.
  void look_ahead();

  /// A thread stands at some breakpoint. false: it is none of these; else it can be resumed.
  bool arrive(const tracee::Event& stop);

  /// What the loader has refused so far.
  const std::vector<FailedLoad>& failures() const { return log_.failures(); }

  /// Moves what was seen into the result.
  void give(RunResult& result);

 private:
  /// What is known of the dlopen that has brought objects.
  struct Opening {
    std::uint64_t requester = 0;  // l_ld
    std::uint64_t record = 0;     // link map of what was asked for; 0: not known
  };

  /// A change of the loader's lists that a thread has begun.
  struct Change {
    std::chrono::nanoseconds began{0};
    python::ThreadKey thread;
    std::optional<Imports> imports;  // nullopt: not read yet
  };

  /// The loader's lists are complete again: a thread stands, or stood, at the hook.
  struct Completion {
    tracee::Event stop;
    std::chrono::nanoseconds at{0};
    Change change;
    std::vector<std::string> stack;  // its innermost pages
  };

  /// What is known of an object that has just come; its cause is not yet.
  LoadRecord record_of(const loader::NewObject& object, const Completion& completion) const;
  static python::ThreadKey key_of(pid_t thread, const std::optional<tracee::Registers>& registers);
  void begin_change(const tracee::Event& stop);
  Completion completion_of(const tracee::Event& stop);
  std::vector<loader::Range> innermost_of(const tracee::Event& stop) const;
  std::chrono::nanoseconds passed_gate(std::chrono::nanoseconds now) const;
  bool can_wait(Completion& completion);
  std::vector<loader::NewObject> complete(Completion completion);
  void add_start(const std::vector<loader::NewObject>& objects, const Completion& completion);
  void add_dlopen(const std::vector<loader::NewObject>& objects, Completion completion);
  Opening find_opening(const Completion& completion, const std::vector<loader::NewObject>& objects);
  void watch_refusals(const elf::MemoryImage& loader, pid_t stopped);
  void leave_refusals_of_start(pid_t stopped);
  void watch_words(pid_t stopped);
  void watch_errors_of(const loader::NewObject& object, pid_t stopped);
  void end_musl_dlopen(const tracee::Event& stop);
  void note_error(pid_t thread, const tracee::Registers& registers);
  void note_complaint(pid_t thread, const tracee::Registers& registers);
  void note_exception(pid_t thread, const tracee::Registers& registers);
  void add_failure(FailedLoad failure, pid_t thread);
  std::vector<python::ImportStep> imports_of(python::ThreadKey thread);
  std::uint64_t caller_of(const DlopenCall& call);
  std::uint64_t owner_of(std::uint64_t code);

  std::chrono::nanoseconds now() const { return Clock::now() - start_; }

  tracee::TracedProcess& process_;
  const ProcessSource& door_;
  LoaderHook hook_;
  ElfClass elf_class_;
  Clock::time_point start_;
  ImportsDoor imports_;
  loader::LinkMapFollower follower_;
  StampClock clock_;  // of the gate
  std::chrono::nanoseconds last_completion_{0};
  std::uint32_t last_stamp_ = 0;
  EntryHooks entries_;
  CodeOwners owners_;
  LoadLog log_;
  std::map<pid_t, Change> changes_;  // under way, by thread
  std::vector<pid_t> ahead_;         // of which the imports have not been looked at
  std::optional<Completion> later_;  // to be completed when its thread runs
  MuslDlopens musl_;
  std::optional<FailedLoad> last_of_start_;
  std::optional<std::uint64_t> errno_place_;  // of musl
  std::vector<FailedLoad> complaints_;        // of a start that is not over
  std::size_t dlopens_ = 0;                   // that have brought something
  std::size_t incomplete_imports_ = 0;
  // After the start, of glibc: those that end a dlopen, and those on the way.
  std::size_t matched_signals_ = 0, unmatched_signals_ = 0;
  bool started_ = false;      // the objects of the start are known
  bool sees_errors_ = false;  // of a dlopen, and of the start
  bool sees_words_ = false;   // of a dlopen of musl
  bool lost_list_ = false;
};

}  // namespace tracso::launch
