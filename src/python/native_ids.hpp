#pragma once
// Which kernel thread is a pthread? Before 3.11 a PyThreadState says only pthread_self().

#include "python/memory_reader.hpp"

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <vector>

namespace tracso::python {

/// For each pthread_self() its kernel thread id, one of `ids` (as the process itself sees them); 0:
/// not found. glibc and musl keep the id in the thread's descriptor, to which pthread_self()
/// points; where in it is a matter of version and processor, so it is looked for: the first offset
/// at which the most descriptors hold different ids of this process.
std::vector<pid_t> native_ids(MemoryReader& memory,
                              std::span<const std::uint64_t> pthreads,
                              std::span<const pid_t> ids);

}  // namespace tracso::python
