#pragma once
// What a process uses of its memory: the kernel is made to forget which pages were touched, and
// asked after a while.

#include "tracso/stat.hpp"
#include "tracso/target.hpp"

#include "proc/smaps.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace tracso {

/// Of the mappings as they are at the end of the time.
WorkingSet working_set_of(const std::vector<proc::MappingCost>& costs, std::int64_t window_ns);

/// Begins the time; false and a notice: the kernel does not permit it.
bool begin_working_set(std::int32_t pid, std::vector<Notice>& notices);

/// Ends it; nullopt and a notice: the mappings could not be read.
std::optional<WorkingSet> end_working_set(const ProcessSource& process,
                                          std::int64_t window_ns,
                                          std::vector<Notice>& notices);

}  // namespace tracso
