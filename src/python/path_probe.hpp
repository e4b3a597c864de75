#pragma once
// Extension modules by the paths of mapped files alone: all that is left where memory may not be
// read, and for PyPy, whose objects move.

#include "tracso/python_probe.hpp"

#include <memory>

namespace tracso::python {

/// Fills PythonFacts with the modules whose files are mapped, in the order of their addresses;
/// `complete` is false: modules written in Python are not seen. Touches the process only to
/// recognize it; where its memory is closed, by the names of what is mapped. Errors: unsupported
/// (no Python), denied, interrupted.
std::unique_ptr<PythonProbe> make_path_probe();

}  // namespace tracso::python
