#pragma once
// Runs a command to its own end and tells of the last moment at which its process is whole, so that
// it can be looked at then. The mechanism of --run.
//
// The command notices as little as can be: descriptors, environment, signal dispositions and mask,
// process group and terminal are those it would have without us; Ctrl-C, Ctrl-Z and signals are
// its own, and what is sent to us to end us is given to it. The processes it starts are followed to
// their end, without a breakpoint in them, and let go where that would be in the way: see
// tracee/traced_process.hpp. It sees a TracerPid, and cannot have itself traced by somebody else.
// If we are killed (SIGKILL) it lives on, and a guardian takes our breakpoints out.

#include "tracso/import_step.hpp"
#include "tracso/result.hpp"
#include "tracso/target.hpp"
#include "tracso/trace.hpp"

#include <chrono>
#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tracso::launch {

/// How a moment was chosen.
enum class MomentKind : std::uint8_t {
  python_begin,  ///< Python is set up and is about to run the program (on_python only)
  python_end,    ///< Python has run its exit functions and still has its modules
  exit_stop,     ///< the process ends: it returned, called exit, or was killed
  idle,          ///< as asked for with At::idle
  elapsed,       ///< as asked for with At::seconds
  detached,      ///< a second Ctrl-C
  last_look      ///< tracing is not permitted: one of several looks at a running process
};

/// "Py_RunMain", "Py_FinalizeEx", "exit stop", "idle", "seconds", "detached", "last look".
std::string_view moment_name(MomentKind kind);

/// A dlopen (or a start) that the loader refused.
struct FailedLoad {
  std::string name;    ///< of the object that the complaint is about, as the loader has it
  std::string reason;  ///< its words: "cannot open shared object file: No such file or directory"
  std::string asked;   ///< the name that was given to dlopen; empty: at the start of the program
  std::chrono::nanoseconds at{0};
  std::int32_t thread = 0;
  std::uint64_t requester = 0;  ///< l_ld of the object whose code called dlopen; 0: not known
  std::vector<ImportStep> imports;
};

struct Moment {
  MomentKind kind = MomentKind::exit_stop;
  std::int32_t pid = 0;
  /// A thread that still has the memory. /proc/<thread> shows the process where the main thread
  /// has ended before the others; else it is the pid.
  std::int32_t thread = 0;
  std::chrono::nanoseconds elapsed{0};  ///< since the start of the command
  bool stopped = true;                  ///< false: it runs while it is looked at
  std::vector<FailedLoad> failed = {};  ///< what the loader has refused until now
};

/// A change of the loader's list of objects is complete, and the thread that made it stands still,
/// inside dlopen or dlclose or the start of the program. With dlmopen it may come when the main
/// list has not changed.
struct LoaderEvent {
  std::int32_t pid = 0, thread = 0;
  std::chrono::nanoseconds began{0}, ended{0};  ///< since the start of the command
  bool removal = false;                         ///< objects were unloaded
};

enum class LoadCause : std::uint8_t {
  startup,  ///< mapped before the program's first instruction: the program, preloads, NEEDED
  needed,   ///< came with another object of the same dlopen that needs it
  dlopen    ///< the object that was asked for
};

/// One object that the loader brought in. What came and went within a dlopen that failed before all
/// it needs was mapped is told by that failure only.
struct LoadRecord {
  std::string name;           ///< l_name, the path as the loader has it
  std::uint64_t dynamic = 0;  ///< l_ld, the address of its dynamic section: what it is known by
  std::uint64_t base = 0;     ///< l_addr
  std::int64_t link_namespace = 0;
  std::int32_t thread = 0;                      ///< the thread that loaded it
  std::chrono::nanoseconds began{0}, ended{0};  ///< of its dlopen, since the start of the command
  std::optional<std::chrono::nanoseconds> unloaded;
  LoadCause cause = LoadCause::startup;
  /// l_ld of the object that needs it, or whose code called dlopen; 0: not known.
  std::uint64_t requester = 0;
  /// The imports under way in that thread, outermost first; empty: no Python, or not readable.
  std::vector<ImportStep> imports;
  std::size_t dlopen = 0;  ///< objects that came with one dlopen share this number
};

/// A traced thread is about to end; /proc/PID/task/THREAD is still there.
struct ThreadEnd {
  std::int32_t pid = 0, thread = 0;
  bool with_process = false;  ///< the whole process ends: it had not ended by itself before
};

enum class At : std::uint8_t { exit, idle, seconds };

struct RunOptions {
  std::vector<std::string> argv;
  At at = At::exit;
  std::chrono::milliseconds after{0};    ///< for At::seconds
  bool output_to_stderr = false;         ///< standard output carries our document
  std::chrono::milliseconds quiet{500};  ///< for At::idle

  /// The door of a process; never null on success.
  std::function<Result<std::unique_ptr<ProcessSource>>(std::int32_t pid)> open;
  /// Called at the moment. More than once if the process execs after its Python has ended, or if
  /// it cannot be traced: the last call counts. SIGINT and others are blocked meanwhile.
  std::function<void(const Moment&)> on_whole;
  /// Children are traced until they end, and looked at then. false: they are let go at birth.
  bool follow_children = true;
  /// Called for a child that is about to end and has code mapped of a file which neither the
  /// command has nor a child told before had; it stands still (unless the moment says otherwise).
  /// At most 64 times and for 10 s in all. false: it could not be looked at. May be empty.
  std::function<bool(const Moment&)> on_child;
  /// Lists children that ended before the command became another program (exec), too: a shell that
  /// execs its last command was their parent.
  bool earlier_children = false;
  /// Called at every change of what is loaded, if set; not for static programs. Without it the
  /// loader is not watched and costs nothing.
  std::function<void(const LoaderEvent&)> on_load;
  /// Fills RunResult.loads and failed_loads, with the imports of a Python.
  bool record_loads = false;

  // For who measures the command and wants nothing changed in it:
  bool breakpoints = true;  ///< false: the moment is always the exit stop, as if it had no Python
  /// Called at python_begin and python_end, stopped there, if set: the only breakpoints are then
  /// those of these moments, three at a time at most, and neither of them is the moment of
  /// on_whole.
  std::function<void(const Moment&)> on_python;
  bool trace = true;  ///< false: as if tracing were not permitted, without the notice
  /// Called when the program is about to run its first instruction, stopped there (not where it is
  /// not traced); again after each exec of its own.
  std::function<void(const Moment&)> on_executed;
  std::function<void(const ThreadEnd&)> on_thread_end;
  /// A followed child, or a child's child, is about to end and stands still; `thread` still has
  /// its memory.
  std::function<void(std::int32_t pid, std::int32_t thread)> on_child_exit;
  /// Called about that often while it runs; 0: never.
  std::chrono::milliseconds interval{0};
  std::function<void(std::int32_t pid)> on_interval;
};

/// A file that is mapped as code.
struct MappedFile {
  std::uint64_t device = 0, inode = 0;
  std::string path;  ///< as maps has it
  auto operator<=>(const MappedFile&) const = default;
};

struct RunChild {
  std::int32_t pid = 0;
  /// Its command line at its end; where that was not seen the name of its program (15 bytes at
  /// most) when last seen.
  std::string command;
  /// What it had mapped as code at its end, its own program left out, that the command has not at
  /// the moment; sorted. nullopt: it was not looked at.
  std::optional<std::vector<MappedFile>> beyond = std::nullopt;
  bool operator==(const RunChild&) const = default;
};

struct RunResult {
  std::int32_t pid = 0;
  std::optional<int> exit_status, signal;  ///< neither: the command goes on without us
  std::optional<MomentKind> moment;        ///< nullopt: on_whole was not called
  /// A second SIGINT, or a second SIGTERM or SIGHUP sent to us. The first is the command's.
  std::optional<int> interrupted_by;
  std::chrono::nanoseconds wall{0};     ///< from its start to its end, or to ours
  std::chrono::nanoseconds stopped{0};  ///< how long it stood still for us
  bool code_executed = false;           ///< of ours, by it: the gate before its loader's hook
  /// Its own and, where they are followed, theirs too; in the order of their birth.
  std::vector<RunChild> children;
  /// How many children had files that on_child was to be told of and was not.
  std::size_t unshown_children = 0;
  std::size_t unlisted_children = 0;  ///< there were too many
  /// on_python would have been called: the program that it was last had a Python from its start.
  bool python_watched = false;
  /// Pages of code that are private copies only because breakpoints were in them.
  std::vector<std::uint64_t> touched_pages;
  /// With record_loads: of the program that the command is at its end, in the order of loading.
  std::vector<LoadRecord> loads;
  std::vector<FailedLoad> failed_loads;
  std::vector<Notice> notices;
};

/// Returns when the command has ended, or earlier as RunResult says. Errors: not_found (a shell's
/// exit status 127), denied (126), usage (no command), failed.
Result<RunResult> run_command(const RunOptions& options);

}  // namespace tracso::launch
