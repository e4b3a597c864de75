#pragma once
// The probe of `--probe memory`: sys.modules read from outside, the target neither stopped nor
// changed. It works where a debugger cannot: traced by another, stopped, its lock held for ever,
// another root, its libpython replaced by an upgrade.

#include "tracso/python_probe.hpp"

#include "python/interpreter.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

namespace tracso::python {

/// Keeps every thread of a process still until it is destroyed.
class Stop {
 public:
  virtual ~Stop() = default;
};

/// Stops a process; an Error where that is not permitted or another debugger has it.
using Stopper = std::function<Result<std::unique_ptr<Stop>>(std::int32_t pid)>;

/// The stopper is used only where modules come and go so fast that no two readings agree (about
/// 20 ms); without one such a target is an Error of kind interrupted. `known`: what
/// find_interpreter() says of the process that will be asked about; nullopt: it is looked for.
std::unique_ptr<PythonProbe> make_memory_probe(Stopper stopper = {},
                                               std::optional<Interpreter> known = std::nullopt);

}  // namespace tracso::python
