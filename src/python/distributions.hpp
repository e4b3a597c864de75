#pragma once
// Which installed distribution does a module belong to? What the installer wrote down beside it
// says so: *.dist-info (PyPA "Recording installed projects") or *.egg-info.

#include "tracso/module_files.hpp"
#include "tracso/python_probe.hpp"
#include "tracso/target.hpp"

#include <cstdint>
#include <vector>

namespace tracso::python {

/// The distributions of these modules. Modules that no installer put there (the standard
/// library, a program's own) are left out. A RECORD that lists the module's file is believed first,
/// then a top_level.txt with the first part of its name, then a distribution of just that name.
/// Reads at most `limit` bytes.
Distributions find_distributions(const std::vector<PythonModule>& modules,
                                 const FileSystem& files,
                                 std::uint64_t limit = std::uint64_t{64} << 20);

}  // namespace tracso::python
