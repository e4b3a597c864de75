#pragma once
// What a running CPython keeps, read from its memory.

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace tracso {

/// Objects of one type.
struct TypeTotal {
  std::string type;  ///< "dict", "app.models.Request"
  std::uint64_t objects = 0;
  std::uint64_t bytes = 0;  ///< as sys.getsizeof has it, without what they refer to
  bool operator==(const TypeTotal&) const = default;
};

/// All objects that the cyclic garbage collector tracks (gc.get_objects(), and those of
/// gc.freeze()). str, bytes, int and float are never among them, tuples and dicts of such only
/// until a collection has looked at them.
struct TrackedObjects {
  std::string version;  ///< "3.11.2"
  std::uint64_t objects = 0, bytes = 0;
  std::vector<TypeTotal> types;  ///< by name
  /// The list of the youngest (some hundred objects) changed whenever it was read: counts are a
  /// little off.
  bool youngest_moved = false;
  std::chrono::nanoseconds stopped{0};  ///< how long the process stood still for it
};

/// Blocks that were allocated at one line, as the program's own tracemalloc has them.
struct LineTotal {
  std::string file;
  std::uint32_t line = 0;
  std::uint64_t blocks = 0, bytes = 0;
  bool operator==(const LineTotal&) const = default;
};

struct TracedLines {
  std::vector<LineTotal> lines;  ///< by file and line
  bool moved = false;            ///< the table changed whenever it was read: a little off
};

}  // namespace tracso
