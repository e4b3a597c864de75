#pragma once
// All processes of this machine that could be looked at, for choosing one.

#include "tracso/result.hpp"

#include "proc/process_entry.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace tracso::os {

/// Numbers of all processes in /proc, ours and kernel threads among them, ascending. failed: /proc
/// is not there.
Result<std::vector<std::int32_t>> all_pids();

/// Whether the maps of every process are read for the name of a Python: the kernel makes these
/// texts anew each time, which takes five times as long as all else of a list.
enum class PythonNames : std::uint8_t { now, later };

/// Every process but kernel threads and ourselves, ascending by pid. What may not be read of one
/// stays empty. failed: /proc is not there.
Result<std::vector<proc::ProcessEntry>> list_processes(PythonNames names = PythonNames::now);

/// ProcessEntry::python of one process; empty also where it has ended.
std::string python_of_process(std::int32_t pid);

/// Base names of the shared libraries that a process maps, sorted, each once; empty: not permitted
/// or ended.
std::vector<std::string> mapped_library_names(std::int32_t pid);

}  // namespace tracso::os
