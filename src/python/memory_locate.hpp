#pragma once
// Which layout does this CPython have? Asked of the process itself and never believed unchecked:
// patch releases and distributors move fields, and a wrong table reads garbage that looks fine.

#include "python/interpreter.hpp"
#include "python/memory_objects.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tracso::python {

/// A layout that passed the check, and what the check learnt on the way.
struct Located {
  Layout layout;
  std::string how;            ///< "debug offsets", "table 3.11", "scan"
  std::uint32_t version = 0;  ///< sys.hexversion
};

/// One PyInterpreterState.
struct InterpreterState {
  std::uint64_t address = 0;
  std::int64_t id = 0;
  std::uint64_t modules = 0;  ///< its modules dict; 0: it has none (yet, or any more)
};

enum class Effort : std::uint8_t { tables, scan };

/// Tries, in this order: what the runtime says of itself (3.13 and later), the row of the expected
/// version, all other rows; with Effort::scan also every word of the interpreter state that could
/// be sys.modules. A
/// layout is taken only if it leads to a dict whose key "sys" is a module with the hexversion of
/// that layout. nullopt: none does, or not at this moment.
std::optional<Located> locate(MemoryReader& memory, const Runtime& runtime, Effort effort);

/// The interpreter states of a runtime in its order (newest first), at most 256.
std::vector<InterpreterState> interpreter_states(Objects& objects, std::uint64_t runtime);

}  // namespace tracso::python
