#pragma once
// One pass over sys.modules: name, __file__ and __spec__.origin of every module of every
// interpreter of a runtime.

#include "tracso/python_probe.hpp"

#include "python/memory_objects.hpp"

#include <cstdint>
#include <vector>

namespace tracso::python {

struct ModuleRow {
  PythonModule module;
  std::uint64_t object = 0;  ///< its address, so that a module made anew is not taken for the old
  bool readable = true;      ///< false: something of it could not be read
  bool operator==(const ModuleRow&) const = default;
};

/// What one pass saw while the target ran on.
struct ModulePass {
  std::vector<ModuleRow> rows;  ///< main interpreter first, each in the order of its sys.modules
  bool complete = true;         ///< every sys.modules was readable and still the same in the end
  bool operator==(const ModulePass&) const = default;

  /// Nothing at all looked torn or odd.
  bool is_whole() const;
};

/// Reads interp.modules, and sys.modules too where the program put another dict there. Rows that
/// another interpreter has in the same form are left out; keys that are no str, too.
ModulePass read_modules(Objects& objects, std::uint64_t runtime);

}  // namespace tracso::python
