#pragma once
// Stops every thread of a process, for tests of what needs a stopped target.

#include "python/memory_probe.hpp"

#include <cstdint>

namespace tracso::test {

/// PTRACE_SEIZE and PTRACE_INTERRUPT of all threads; they run on when the Stop is destroyed.
Result<std::unique_ptr<python::Stop>> stop_threads(std::int32_t pid);

/// The thread pointer (fs_base, tpidr_el0) of a thread that stop_threads has stopped; 0: not known.
std::uint64_t thread_pointer(std::int32_t thread);

}  // namespace tracso::test
