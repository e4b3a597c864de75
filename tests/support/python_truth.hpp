#pragma once
// What a Python says of its own sys.modules, to compare a probe with.

#include "tracso/python_probe.hpp"

#include "support/python_target.hpp"

#include <string>
#include <vector>

namespace tracso::test {

/// The command that runs tests/live/python_memory_truth.py in that Python. `options` come before
/// the modules that it shall import; with `many` these bring more than 200 along.
std::vector<std::string> truth_command(const std::string& program,
                                       const std::vector<std::string>& options = {},
                                       bool many = true);

/// What the script printed; nullopt: it ended before it had told all.
std::optional<std::vector<PythonModule>> read_truth(Child& child);

/// The first row in which they differ, for people; empty: none.
std::string first_difference(const std::vector<PythonModule>& seen,
                             const std::vector<PythonModule>& truth);

}  // namespace tracso::test
