#pragma once
// In whose code the threads of a process began, without stopping it: glibc and musl keep a thread's
// number and the function it was started with at the upper end of its stack.

#include "tracso/problem_facts.hpp"

#include "collect/workspace.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tracso {

/// Of the guard below a stack.
constexpr std::uint64_t largest_guard = std::uint64_t{1} << 20U;

/// Objects in whose code more than one thread began, by the graph. Threads whose stack does not
/// have that form (a program's own stacks, guards that are no mapping of their own) are in none.
std::vector<ThreadPool> find_thread_pools(const Workspace& work);

/// The number of threads, the first one included; 0: not readable.
std::size_t count_threads(const ProcessSource& process);

}  // namespace tracso
