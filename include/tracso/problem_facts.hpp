#pragma once
// What findings rest on beside the graph: which library a call really goes to, who may write
// where, what memory is writable and executable. Read with the graph, at the same moment; not part
// of the document.

#include "tracso/snapshot.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tracso {

/// How much of the symbol tables is read.
enum class SymbolDepth : std::uint8_t {
  none,
  problems,  ///< what findings need: crossed symbols, unused libraries
  all        ///< every imported function
};

struct FactsOptions {
  bool places = true;  ///< all that needs no symbol tables
  SymbolDepth symbols = SymbolDepth::none;
  bool recorded = false;  ///< the doors are those of a recording, which has no symbol tables
};

/// Where one imported function of an object leads.
struct Binding {
  NodeId object{};  ///< who calls
  std::string symbol, version;
  std::optional<NodeId> provider;  ///< by the address in its slot; nullopt: not bound yet, or the
                                   ///< address lies in no object (vDSO, generated code)
  std::optional<NodeId> expected;  ///< not bound: whom the loader would choose now, by its order;
                                   ///< what dlopen made global is not looked through
  std::optional<NodeId> promised;  ///< who has it among the object itself and what it needs
  bool bound = false;              ///< false: lazily, it has not been called yet
  bool interposed = false;         ///< provider and promised differ
  std::string usual;  ///< interposed, and meant to be: "preload", "allocator", "sanitizer",
                      ///< "weak symbol", "C library"
  bool operator==(const Binding&) const = default;
};

/// What can be said of the calls into one library.
struct LibraryUse {
  enum class State : std::uint8_t { used, not_called_so_far, unknown };
  NodeId node{};
  State state = State::unknown;
  std::string reason;               ///< a sentence without a full stop
  std::size_t functions = 0;        ///< of it that others import
  std::size_t called = 0;           ///< of these, known to have been called
  std::vector<NodeId> asked_by;     ///< who imports them
  bool needed_for_nothing = false;  ///< somebody needs it, and nobody imports anything of it
  bool operator==(const LibraryUse&) const = default;
};

/// A runtime that an object brings along inside of itself.
struct OwnRuntime {
  NodeId object{};
  std::string family, kind;  ///< "openmp", "GNU"
  std::string symbol;        ///< that shows it
  bool operator==(const OwnRuntime&) const = default;
};

/// Which release a library of a delicate family is, and what told it: "3.0.19", "its own text".
struct KnownVersion {
  NodeId object{};
  std::string text, source;
  bool operator==(const KnownVersion&) const = default;
};

/// Memory that is writable and executable at once.
struct WritableCode {
  std::string name;  ///< as in maps; empty: anonymous
  std::uint64_t bytes = 0;
  std::size_t mappings = 0;
  bool operator==(const WritableCode&) const = default;
};

/// A file, or a directory in which the loader looks, and who may change it.
struct Place {
  enum class What : std::uint8_t { file, directory, search_path };
  What what = What::file;
  std::string path;
  NodeId node{};         ///< the library, or whose RPATH names it
  std::string named_by;  ///< of a search path: "RUNPATH", "LD_LIBRARY_PATH"
  bool exists = true;
  std::uint32_t mode = 0, owner = 0;
  bool creatable = false;   ///< it does not exist, and anybody may make it
  std::string file_system;  ///< "nfs4", "fuse.sshfs"; empty: a usual one, or not known
  bool operator==(const Place&) const = default;
};

/// Threads that began in the code of one object: a pool that a library keeps.
struct ThreadPool {
  NodeId object{};
  std::size_t threads = 0;
  std::size_t idle = 0;  ///< of these, asleep when looked at
  bool operator==(const ThreadPool&) const = default;
};

/// Arenas that glibc's malloc made for threads beside its heap.
struct MallocArenas {
  std::size_t count = 0;
  std::uint64_t resident = 0, of_all = 0;  ///< in them; in the whole process
  bool operator==(const MallocArenas&) const = default;
};

/// A variable of the loader that the process has now and was not started with so, or the reverse.
struct ChangedVariable {
  std::string name;
  std::optional<std::string> before, now;  ///< nullopt: not set
  bool operator==(const ChangedVariable&) const = default;
};

/// A symbol that an object wants and nothing in its scope defines.
struct UndefinedName {
  NodeId object{};
  std::string symbol, version;
  bool operator==(const UndefinedName&) const = default;
};

struct ProblemFacts {
  bool looked = false;   ///< the rest was read
  bool symbols = false;  ///< bindings, uses and runtimes were read too
  std::uint32_t user = 0;
  bool secure = false;  ///< AT_SECURE: LD_LIBRARY_PATH was ignored
  bool library_path_set = false;
  /// What the loader was told to search first and by whom ("LD_LIBRARY_PATH"); empty: nothing, or
  /// it was ignored. Empty elements are left out where the loader leaves them out (musl).
  std::string library_path, library_path_setting;
  std::vector<WritableCode> writable_code;
  std::vector<Place> places;  ///< only those that anybody but root and the user may change, that
                              ///< do not exist, or that lie on a network
  std::optional<std::size_t> descriptors, descriptor_limit;
  std::vector<Binding> bindings;  ///< all, or the interposed ones, as was asked
  std::vector<LibraryUse> uses;
  std::vector<OwnRuntime> runtimes;
  std::vector<KnownVersion> versions;    ///< of the libcryptos, where there are several
  std::vector<NodeId> malloc_providers;  ///< to whom calls of malloc go; each once
  /// Of a FILE: nothing that it would load defines them. Of a process: functions that have not been
  /// called yet, and nothing that is loaded defines them.
  std::vector<UndefinedName> undefined;
  std::optional<std::size_t> processors;  ///< that the process may use
  std::vector<ThreadPool> pools;          ///< only where there are many threads
  std::optional<MallocArenas> arenas;     ///< only where there are many
  std::vector<ChangedVariable> changed_variables;
  /// Objects that the loader opened under a name that depends on the working directory.
  std::vector<std::pair<NodeId, std::string>> relative_names;
  bool operator==(const ProblemFacts&) const = default;
};

/// take_snapshot, and what findings rest on. What could not be read is a notice of the trace.
Result<Trace> take_snapshot(const Target& target,
                            const SnapshotOptions& options,
                            const FactsOptions& wanted,
                            ProblemFacts& facts);

/// What findings of a FILE rest on beside its graph: reads the symbol tables of all that it would
/// load. What could not be read is a notice of the trace.
void collect_file_facts(const FileSystem& files, Trace& trace, ProblemFacts& facts);

}  // namespace tracso
