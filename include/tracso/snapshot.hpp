#pragma once
// From a target to a trace: the whole of what tracso can see of it at one moment.

#include "tracso/module_files.hpp"
#include "tracso/python_pools.hpp"
#include "tracso/result.hpp"
#include "tracso/target.hpp"
#include "tracso/trace.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tracso {

/// A file that a dlopen did not find, as --run has seen it.
struct RefusedName {
  std::string name;          ///< of the file
  std::string asked;         ///< given to dlopen; another one where `name` is needed by that
  std::uint64_t caller = 0;  ///< l_ld of the object whose code called dlopen; 0: not known
};

struct SnapshotOptions {
  std::string elf = "auto";  ///< auto, native, readelf
  bool children = false;     ///< descendants' libraries join the graph
  bool costs = false;        ///< resident and private bytes
  /// With costs: also the whole process by use, for which heads of the heap's pools are read.
  bool memory_classes = true;
  /// Of a recording: how much of the memory is Python's pools; nullopt: they are looked for.
  std::optional<PoolsByMapping> python_pools;
  bool relocations = false;    ///< pages that the loader writes to; reads tables of every file
  bool dlopen_hints = false;   ///< look for who may have called dlopen; reads whole files
  bool distributions = false;  ///< of Python modules; reads what installers wrote down
  bool importers = false;      ///< of Python modules; reads their sources
  /// Of a recording: what had been read of those files; nullopt: they are read.
  std::optional<ModuleFiles> module_files;
  std::chrono::milliseconds timeout{5000};
  std::string label;  ///< empty: "pid:N"
  std::string cpu;    ///< cpu_text() of the machine the target runs on; empty: this one
  /// Finds the modules if the target is a Python; nullopt: it is none, or nothing could be found
  /// (then a notice says why).
  std::function<std::optional<PythonFacts>(const ProbeInput&, std::vector<Notice>&)> python;
  /// Opens the doors of a child process; without it children are listed by number only.
  std::function<std::optional<Target>(std::int32_t pid)> child;
  /// To be explained in trace.failed_loads: who needs it, and where it was looked for.
  std::vector<RefusedName> refused = {};
  /// Decisions, one line each, for -v; may be empty.
  std::function<void(std::string)> log;
};

/// What of this CPU decides where the loader looks (glibc-hwcaps), as a word for a recording.
std::string cpu_text();

/// A live (or recorded) process. Errors: not_found, denied, interrupted; whatever else goes wrong
/// is a notice in the trace.
Result<Trace> take_snapshot(const Target& target, const SnapshotOptions& options);

/// What the loader would do with a file if it were started from here.
struct FileQuestion {
  TargetPath file;
  std::string label;  ///< base name
  std::vector<std::pair<std::string, std::string>>
      environment;  ///< LD_* of the caller; empty with --root
  std::string working_directory = "/";
  /// Why the kernel would start it in secure mode, if it is a program; empty: it would not.
  std::string secure_because;
};

/// Errors: not_found, denied, unsupported (directory, device), malformed (not ELF: exit status 6).
Result<Trace> explain_file(const Target& target,
                           const FileQuestion& question,
                           const SnapshotOptions& options);

}  // namespace tracso
