#pragma once
// One moment of a process, as `tracso stat` sees it.

#include "tracso/stat.hpp"

#include "collect/descriptors.hpp"
#include "collect/resources.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace tracso {

OpenProcess process_opener();

/// Looks into descriptors by pidfd_getfd(2); empty where that is not to be had.
proc::Borrow descriptor_borrower(std::int32_t pid);

/// Memory, libraries, threads of the process; `thread` is one that still has its memory (else the
/// pid). What cannot be read is a notice in `into`. `verbose`: decisions are said on stderr.
void look_at_costs(std::int32_t thread, Stat& into, bool verbose);

/// --children: into.tree, of the process (by `thread`) and into.children. What cannot be read is a
/// notice.
void look_at_tree(std::int32_t thread, Stat& into);

/// Takes the peak of that child if it is the largest.
void add_peak(ChildPeaks& into, std::int32_t pid, const ChildProcess& child);

/// How many descriptors are open: what everybody may see of a process. nullopt: not even that.
std::optional<std::uint64_t> count_descriptors(std::int32_t pid);

/// Descriptors now, compared with `before`, those that were opened since resolved.
std::optional<DescriptorChange> look_at_descriptors(std::int32_t thread,
                                                    const std::vector<Descriptor>& before,
                                                    std::vector<Notice>& notices);

/// Processor time since the process began, exact; nullopt: it is gone.
std::optional<std::int64_t> cpu_time_of(std::int32_t pid);
/// Of children that it has waited for; to a clock tick (10 ms).
std::optional<std::int64_t> children_cpu_time(const ProcessSource& process);

}  // namespace tracso
