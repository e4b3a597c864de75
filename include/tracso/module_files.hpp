#pragma once
// What stands in files beside the modules of a Python: in their sources, and in what installers
// wrote down.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tracso {

/// Files that should have been read and were not: gone, refused, or beyond a limit.
struct UnreadFiles {
  std::size_t count = 0;
  std::string first;  ///< "PATH: why not"
  bool operator==(const UnreadFiles&) const = default;
};

/// "numpy/core/multiarray.py:10 (numpy.core.multiarray) imports numpy.core._multiarray_umath".
struct InferredImport {
  std::string extension;     ///< full name of the extension module
  std::string module, file;  ///< whose source has the import statement
  std::uint32_t line = 0;
  bool operator==(const InferredImport&) const = default;
};

/// What the import statements in the sources of the modules tell.
struct InferredImports {
  std::vector<InferredImport> imports;  ///< in the order of sys.modules
  UnreadFiles unread;
  bool operator==(const InferredImports&) const = default;
};

/// What installers wrote down beside the modules.
struct Distributions {
  std::map<std::string, std::string> titles;  ///< full name of a module -> "numpy 2.1.0"
  UnreadFiles unread;
  bool operator==(const Distributions&) const = default;
};

/// Both, as a recording keeps them: the files themselves are not in it.
struct ModuleFiles {
  InferredImports imports;
  Distributions distributions;
  bool operator==(const ModuleFiles&) const = default;
};

}  // namespace tracso
