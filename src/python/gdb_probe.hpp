#pragma once
// The modules of a CPython process as the process itself lists them: gdb makes it run a few lines.

#include "tracso/gdb_session.hpp"
#include "tracso/python_probe.hpp"

#include <memory>

namespace tracso::python {

/// Works with CPython 3.6 to 3.15 on x86-64, also where the layout of the interpreter is not known:
/// only functions of its public interface are used, at the addresses that the process' own memory
/// gives. The process stands still for 50 to 200 ms. Errors of probe(): unsupported (no CPython, a
/// 32-bit one, functions not exported, not x86-64), denied (already traced, not permitted),
/// missing_tool, interrupted (no safe moment within ProbeInput::timeout; the process ended),
/// failed.
std::unique_ptr<PythonProbe> make_gdb_probe(GdbSessionStarter start);

}  // namespace tracso::python
