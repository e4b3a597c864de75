#pragma once
// tracso PID --calls SECONDS: which libraries of the report are called within a while.

#include "tracso/trace.hpp"

#include "commands/sources.hpp"

#include <chrono>

namespace tracso {

/// Attaches as `tracso calls -p` does, counts, and gives everything back; `trace` is of that
/// process and gets its calls, what was done to the process, and a notice of it. false: it was
/// refused, or ended; then the notice says why, and the trace is as it was.
bool count_calls(const LiveTarget& live, std::chrono::milliseconds time, Trace& trace);

}  // namespace tracso
