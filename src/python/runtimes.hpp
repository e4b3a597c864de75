#pragma once
// The CPython runtimes of a process whose memory can be read: found once, read again and again.

#include "python/interpreter.hpp"
#include "python/memory_locate.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tracso::python {

struct LivingRuntime {
  Runtime runtime;
  Located located;
};

/// The runtimes of a process that have begun to work; none: no Python, or none that has begun (or
/// that has ended). `action` begins the sentence of an Error ("read the Python stacks of"):
/// unsupported (PyPy, older than 3.8, memory not laid out as in any known version), denied.
Result<std::vector<LivingRuntime>> find_living_runtimes(const ProbeInput& input,
                                                        MemoryReader& memory,
                                                        const std::string& action);

}  // namespace tracso::python
