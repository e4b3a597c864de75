#pragma once
// tracso PID --calls SECONDS: which libraries of the report are called within a while.

#include "tracso/trace.hpp"

#include "commands/sources.hpp"

#include <chrono>

namespace tracso {

/// Attaches as `tracso calls -p` does, counts, and gives everything back; `trace` is of that
/// process and gets its calls, what was done to the process, and a notice of it. With
/// `refused` the notice says why, and the trace is as it was; `ended`: before the time was over, or
/// another program runs in it by now (exec).
CallWindow count_calls(const LiveTarget& live, std::chrono::milliseconds time, Trace& trace);

}  // namespace tracso
