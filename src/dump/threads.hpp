#pragma once
// The threads of a process as the kernel shows them.

#include "tracso/target.hpp"

#include "proc/thread_call.hpp"
#include "python/thread_stacks.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tracso::dump {

struct KernelView {
  std::int32_t id = 0;   ///< as we see it
  std::int32_t own = 0;  ///< as the process itself sees it (pid namespaces)
  std::string name;
  char state = '?';
  std::optional<proc::ThreadCall> call;  ///< nullopt: could not be read
};

/// Main thread first, then by number. Threads that end meanwhile are left out. `denied` is set
/// where the system calls may not be read. Errors of the list of threads.
Result<std::vector<KernelView>> look_at_threads(const ProcessSource& process, bool& denied);

/// Those that wait for a word (futex(2)), and for which.
std::vector<python::WordWait> word_waits(const std::vector<KernelView>& views);

/// The same thread again; nullopt: gone, or not readable.
std::optional<proc::ThreadCall> look_at_call(const ProcessSource& process, std::int32_t thread);

}  // namespace tracso::dump
