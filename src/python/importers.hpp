#pragma once
// Who imported an extension module? A running process does not remember; the sources of its modules
// say who could have. Of 499 extension modules of fifteen programs 398 were named rightly, with the
// line (docs/python-probes.md). So every answer here is inferred.

#include "tracso/module_files.hpp"
#include "tracso/python_probe.hpp"
#include "tracso/target.hpp"

#include <cstdint>
#include <vector>

namespace tracso::python {

/// How much source is read at most.
struct SourceLimits {
  std::uint64_t file_bytes = std::uint64_t{4} << 20;
  std::uint64_t all_bytes = std::uint64_t{128} << 20;
};

/// For the extension modules (file ends in ".so") among `modules`, which are in the order of
/// sys.modules: the module that has an import statement for it outside of functions and was begun
/// last before it; else one with the statement in a function. Extensions that nobody's source names
/// (imported from C) are left out.
InferredImports infer_importers(const std::vector<PythonModule>& modules,
                                const FileSystem& files,
                                const SourceLimits& limits = {});

}  // namespace tracso::python
