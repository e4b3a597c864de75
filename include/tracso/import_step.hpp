#pragma once
// One step of a chain of imports that are under way: "app.py:3 imports pkg".

#include <cstdint>
#include <string>

namespace tracso {

/// `module` is being imported because of the line.
struct ImportStep {
  std::string module;      ///< full name of what is imported; empty: code that imports nothing, the
                           ///< last step of a load by other means (ctypes, a plugin)
  std::string file;        ///< of the code that asked, as its code object has it; empty: C code
  std::uint32_t line = 0;  ///< 1-based; 0: not known
  std::string importer;    ///< name of the module whose code it is ("__main__"); empty: not known
  bool operator==(const ImportStep&) const = default;
};

}  // namespace tracso
