#pragma once
// Which addresses of a process are to be watched: entry points of functions that have a name, and
// the instructions by which a library calls the functions that it imports.
//
// Of an imported function it is the jump in the PLT, or the call through the GOT in code without a
// PLT: there the caller is known, and a function that is chosen at run time (IFUNC) is no trouble.

#include "tracso/mapping.hpp"
#include "tracso/target.hpp"

#include "calls/engine_memory.hpp"
#include "calls/engine_sites.hpp"
#include "calls/filter.hpp"
#include "elf/linkage.hpp"

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace tracso::calls {

/// How the engine sees processes.
struct EngineDoors {
  std::function<Result<std::unique_ptr<ProcessSource>>(pid_t)> process;
  /// The file that is mapped there; nullptr: it cannot be opened.
  std::function<std::unique_ptr<File>(const ProcessSource&, const Mapping&)> file;
};

struct WatchedCalls {
  std::optional<Filter> imports;  ///< nullopt: none
  std::optional<Filter> entries;
};

/// What could not be watched.
struct UnwatchedPlaces {
  std::uint64_t no_room = 0;     ///< more than are kept
  std::uint64_t indirect = 0;    ///< entry points that are chosen at run time
  std::uint64_t unreadable = 0;  ///< files
};

class EnginePlaces {
 public:
  EnginePlaces(const WatchedCalls& watched, const EngineDoors& doors, EngineSites& sites)
      : watched_(watched), doors_(doors), sites_(sites), absent_(chains_of(watched.entries)) {}

  /// The process has just executed a program: `stopped` is its only thread.
  void begin(pid_t pid, pid_t stopped, EngineMemory& memory);
  /// Its loader has changed its list, or `at_once`: it has run for a while.
  void look(pid_t pid, pid_t stopped, EngineMemory& memory);

  /// Watches one more address: false: there is no room, or its memory cannot be changed.
  static bool insert(pid_t stopped, EngineMemory& memory, std::uint64_t address);

  const UnwatchedPlaces& unwatched() const { return unwatched_; }

  /// What of the entry points asked for no object has had so far: one filter for each that was
  /// given.
  const std::vector<Filter>& absent() const { return absent_; }

 private:
  using Identity = std::pair<std::uint64_t, std::uint64_t>;

  void find_loader(const ProcessSource& process, pid_t stopped, EngineMemory& memory);
  std::uint64_t spare_code_of(const File* file, const EngineObject& object) const;
  void add_object(const ProcessSource& process,
                  const Mapping& first,
                  const EngineObject& object,
                  pid_t stopped,
                  EngineMemory& memory);
  void look_at_c_library(const elf::Linkage& linkage,
                         const EngineObject& object,
                         pid_t stopped,
                         EngineMemory& memory);
  void add_entries(const File& file,
                   const EngineObject& object,
                   pid_t stopped,
                   EngineMemory& memory);
  void add_imports(const ProcessSource& process,
                   const Mapping& first,
                   EngineObject& object,
                   pid_t stopped,
                   EngineMemory& memory);
  void add_import(std::uint64_t address,
                  const elf::ImportSlot& slot,
                  const elf::Linkage& linkage,
                  const EngineObject& object,
                  pid_t stopped,
                  EngineMemory& memory);
  std::string callee_of(const elf::ImportSlot& slot,
                        std::string_view symbol,
                        const EngineObject& caller,
                        pid_t stopped,
                        const EngineMemory& memory);
  const elf::Linkage* linkage_of(const ProcessSource& process,
                                 const Mapping& first,
                                 const EngineObject& object);

  const WatchedCalls& watched_;
  const EngineDoors& doors_;
  EngineSites& sites_;
  std::uint64_t entry_ = 0;                                     // of the program that begins
  std::map<Identity, std::unique_ptr<elf::Linkage>> linkages_;  // null: it has none
  UnwatchedPlaces unwatched_;
  std::vector<Filter> absent_;
};

}  // namespace tracso::calls
