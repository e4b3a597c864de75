#pragma once
// Which probe is asked, and what is said when it is not the best one.

#include "tracso/python_probe.hpp"
#include "tracso/trace.hpp"

#include "python/interpreter.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace tracso::python {

struct Probes {
  const PythonProbe* memory = nullptr;
  const PythonProbe* gdb = nullptr;  ///< null: we trace the process, so gdb cannot
  const PythonProbe* path = nullptr;
};

/// The facts by the probe of that name: "memory", "gdb", "path", and its Error if it fails; "none":
/// nullopt. "auto" never fails on a Python process: memory, then gdb, but only where memory can be
/// read and its layout is not known (elsewhere gdb would stop the process for nothing), then path;
/// anything but memory adds one notice that says which and why. No Python: nullopt, no notice.
/// usage: another name. `found`: what find_interpreter() says of the process.
Result<std::optional<PythonFacts>> probe_recognized(const ProbeInput& input,
                                                    const Result<Interpreter>& found,
                                                    std::string_view choice,
                                                    const Probes& probes,
                                                    std::vector<Notice>& notices);

}  // namespace tracso::python
