#pragma once
// One memory that the engine watches, and what stands where in it. Several processes may live in
// it: a child of vfork in its parent's.

#include "tracee/breakpoints.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tracso::calls {

/// A file that is mapped as code.
struct EngineObject {
  std::uint64_t start = 0, end = 0;  ///< from its first mapping to its last
  std::uint64_t bias = 0;
  std::uint64_t device = 0, inode = 0;
  std::string path;
  bool program = false;
  /// Code that runs only once, when the file is loaded: there instructions of others of its
  /// functions can be carried out. 0: none is known.
  std::uint64_t spare_code = 0;
  bool imports_done = false;  ///< the places through which it calls others are watched
};

/// What a breakpoint is for; it may be for several things.
struct EnginePlace {
  std::optional<std::uint32_t> entry, import;  ///< numbers of EngineSites
  bool returns = false;                        ///< some call may return here
  bool loader = false;                         ///< the loader's list has changed
  bool asks = false;                           ///< ptrace(2) of the C library
  std::array<std::uint8_t, 16> code{};         ///< what stands there without it
  std::size_t code_bytes = 0;
};

struct EngineMemory {
  tracee::Breakpoints breakpoints;
  std::vector<EngineObject> objects;
  std::map<std::uint64_t, EnginePlace> places;
  unsigned loader_events = 0;
  bool spare_code_taken = false;     ///< by a thread that has not left it in time
  std::uint64_t errno_function = 0;  ///< __errno_location; 0: not known

  /// nullptr: no file is mapped there.
  const EngineObject* object_at(std::uint64_t address) const;

  /// Its path; empty: none.
  std::string_view path_at(std::uint64_t address) const;

  /// The first with spare code; nullptr: none has any.
  const EngineObject* spare_object() const;

  /// Another program (exec): nothing stands in it. Its guardian stays.
  void begin_anew();
};

}  // namespace tracso::calls
