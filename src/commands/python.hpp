#pragma once
// The probes of python/, with the doors that only a live process has.

#include "tracso/python_probe.hpp"
#include "tracso/trace.hpp"

#include "python/memory_probe.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tracso {

/// Who traces the process that is looked at.
enum class Tracer : std::uint8_t { not_us, us };

/// Finds the modules of a live Python by the chosen probe: auto, memory, gdb, path, none. nullopt:
/// no Python, or nothing found (a notice says why). `refused` is set where a probe that was asked
/// for by name could not work. A process that we trace ourselves (--run) is out of reach for gdb.
std::optional<PythonFacts> find_python_modules(const ProbeInput& input,
                                               const std::string& choice,
                                               std::vector<Notice>& notices,
                                               std::optional<Error>& refused,
                                               Tracer tracer = Tracer::not_us);

/// Holds all threads of a process, for a reading that it is too quick for.
python::Stopper thread_holder();

}  // namespace tracso
