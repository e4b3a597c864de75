#pragma once
#include "base/unique_fd.hpp"

#include <cstdint>

namespace tracso::os {

/// /proc/PID, held open. Where the first thread of a process has ended by pthread_exit(3) and
/// others go on, /proc/PID looks like a zombie without memory; then this is /proc/TID of a thread
/// that lives, which is there for every thread, though not listed.
struct ProcessDirectory {
  UniqueFd directory;
  std::int32_t thread = 0;  ///< the process' number, or that of the thread
};

/// No directory: errno says why.
ProcessDirectory open_process_directory(std::int32_t pid);

}  // namespace tracso::os
