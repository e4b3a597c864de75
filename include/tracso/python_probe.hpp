#pragma once
// How the modules of a Python process are found.

#include "tracso/mapping.hpp"
#include "tracso/target.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tracso {

/// One entry of sys.modules.
struct PythonModule {
  std::string name;  ///< its key, UTF-8 (a byte of a surrogate escape is that byte)
  std::optional<std::string>
      file;            ///< __file__, as bytes of the file system; nullopt: built-in or frozen
  std::string origin;  ///< __spec__.origin: "built-in", "frozen", a path; empty: none or not known
  bool operator==(const PythonModule&) const = default;
};

/// What a probe found, and what it did to the target to find it.
struct PythonFacts {
  std::string implementation;           ///< "cpython", "pypy"
  std::string version;                  ///< "3.11.2"; empty: not known
  std::vector<PythonModule> modules;    ///< in the order of sys.modules where the probe sees it
  std::string probe;                    ///< "memory", "gdb", "path"
  std::string detail;                   ///< how the layout was known: "debug offsets", "table 3.11"
  std::chrono::nanoseconds stopped{0};  ///< how long the target stood still
  bool code_executed = false;           ///< the target ran something for us
  bool complete = true;                 ///< false: only what paths of mapped files tell
};

struct ProbeInput {
  Target target;
  std::vector<Mapping> mappings;
  std::string executable;  ///< the target's program, as the target sees it
  std::chrono::milliseconds timeout{5000};
};

/// Errors: unsupported (no Python here, layout not understood), denied, missing_tool (gdb),
/// interrupted (deadline, target ended).
class PythonProbe {
 public:
  virtual ~PythonProbe() = default;
  virtual std::string_view name() const = 0;
  virtual Result<PythonFacts> probe(const ProbeInput& input) const = 0;
};

}  // namespace tracso
