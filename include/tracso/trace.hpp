#pragma once
// One trace: the graph of one moment and all that a document says beside it.

#include "tracso/graph.hpp"
#include "tracso/import_step.hpp"
#include "tracso/python_probe.hpp"
#include "tracso/resources.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tracso {

/// Something that could not be seen or should be known: its effect on the answer and what to try.
struct Notice {
  std::string code;  ///< stable, for scripts: "link-map-unreadable"
  std::string text, effect, try_;
  bool operator==(const Notice&) const = default;
};

struct PythonInfo {
  std::string version, implementation, probe;
  std::size_t modules = 0;
  bool operator==(const PythonInfo&) const = default;
};

struct ProcessInfo {
  std::int32_t pid = 0;
  std::uint64_t start_time = 0;  ///< clock ticks after boot (proc_pid_stat(5), field 22)
  std::string exe;
  std::vector<std::string> command;
  std::optional<PythonInfo> python;
  bool operator==(const ProcessInfo&) const = default;
};

/// What --run ran.
struct CommandInfo {
  std::vector<std::string> argv;
  std::optional<int> exit_status;
  std::optional<int> signal;
  std::int64_t wall_ns = 0;
  bool operator==(const CommandInfo&) const = default;
};

/// What looking did to the target.
struct Intrusion {
  std::int64_t stopped_ns = 0;
  bool code_executed = false;
  std::string method = "maps";  ///< "maps", "memory", "ptrace", "gdb"
  bool operator==(const Intrusion&) const = default;
};

/// One library coming in (and going), as seen by --run.
struct Load {
  std::int64_t time_ns = 0;  ///< since the start of the command
  std::int64_t duration_ns = 0;
  NodeId object{};
  std::optional<NodeId> cause;
  std::optional<std::int64_t> unloaded_ns;
  std::vector<ImportStep> imports;  ///< under way in its thread, outermost first
  std::uint32_t dlopen = 0;  ///< objects that came with one dlopen share this number; 0: startup
  bool operator==(const Load&) const = default;
};

/// A dlopen that the loader refused, as seen by --run.
struct FailedLoad {
  std::int64_t time_ns = 0;
  std::string name, reason;  ///< the object it is about; the loader's words
  std::optional<NodeId> cause;
  std::vector<ImportStep> imports;
  std::string asked =
      {};  ///< the name that was given to dlopen; empty: at the start of the program
  /// Of a file that was not found: who needs it, where that is not who has called dlopen; and each
  /// place where it was looked for, by the rules of the loader.
  std::string needed_by = {};
  std::vector<SearchStep> search = {};
  bool operator==(const FailedLoad&) const = default;
};

struct ChildInfo {
  std::int32_t pid = 0;
  std::string command;
  /// nullopt: it was not looked at, neither while it ran nor at its end.
  std::optional<std::size_t> libraries_beyond_parent;
  /// Paths of those, sorted; known of the children that --run has followed to their end.
  std::vector<std::string> beyond = {};
  bool operator==(const ChildInfo&) const = default;
};

/// Calls of one object into another while --calls counted.
struct CountedCalls {
  NodeId caller{}, callee{};
  std::uint64_t calls = 0;
  bool operator==(const CountedCalls&) const = default;
};

/// What --calls has seen within its time.
struct CallWatch {
  std::int64_t window_ns = 0;
  std::vector<CountedCalls> pairs;  ///< each pair once, most calls first
  std::uint64_t elsewhere = 0;      ///< calls from or into what the graph does not hold
  bool operator==(const CallWatch&) const = default;
};

/// A finding, in words and with its evidence.
struct Finding {
  enum class Severity : std::uint8_t { error, warning, note };
  std::string code;
  Severity severity = Severity::note;
  std::string title;
  std::vector<NodeId> nodes;
  std::vector<std::string> owners, evidence;
  std::string confidence, what_to_do;
  bool operator==(const Finding&) const = default;
};

struct Trace {
  std::string target;       ///< the label
  std::string interpreter;  ///< path of the program; of a FILE: the file
  std::optional<ProcessInfo> process;
  std::optional<CommandInfo> command;
  Intrusion intrusion;
  /// All memory of the process by use; nullopt: not asked for, or not readable.
  std::optional<MemoryByClass> memory;
  Graph graph;
  std::vector<PythonModule> modules;  ///< the whole of sys.modules
  std::vector<Load> loads;
  std::vector<FailedLoad> failed_loads;
  std::vector<ChildInfo> children;
  std::optional<CallWatch> calls = {};  ///< nullopt: calls were not counted
  std::vector<Finding> findings;
  std::vector<Notice> notices;
  std::size_t name_depth = 0;  ///< how the PythonSource nodes are cut; 0: full names
  bool partial = false;        ///< the target ended meanwhile: what was read stands here
  bool operator==(const Trace&) const = default;
};

}  // namespace tracso
