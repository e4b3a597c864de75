#pragma once
// Python source text -> the import statements in it. No grammar is needed for that: only what can
// hide a statement (strings, brackets, continued lines) and what puts it into a function.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tracso::python {

struct ImportedName {
  std::string name;          ///< absolute: "numpy.linalg"
  std::uint32_t line = 0;    ///< where its logical line begins
  bool in_function = false;  ///< runs when that is called, not when the module is imported
  bool operator==(const ImportedName&) const = default;
};

/// Every name that an import statement may import, in the order of the text: `import a.b` gives
/// a.b; `from a import b` gives a and a.b (b may be a module or not). Relative names are made
/// absolute with `package`; those that lead out of it are left out. Broken source gives what can be
/// made out.
std::vector<ImportedName> parse_imports(std::string_view source, std::string_view package);

}  // namespace tracso::python
