#pragma once
// Threads, children and counters of a process.

#include "tracso/resources.hpp"
#include "tracso/target.hpp"

#include "proc/counters.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace tracso {

/// Opens the door of another process; null: it is gone.
using OpenProcess = std::function<std::unique_ptr<ProcessSource>(std::int32_t pid)>;

/// In the order of their numbers. Empty where they cannot be listed.
std::vector<ThreadInfo> collect_threads(const ProcessSource& process);

/// The name and state of one process and, unless it is a zombie, its memory. nullopt: it is gone.
std::optional<ChildProcess> look_at_child(const ProcessSource& child);

/// All descendants, parents before their children; at most 10,000. A child whose number has
/// meanwhile gone to somebody else's process is left out.
std::vector<ChildProcess> collect_descendants(const ProcessSource& process,
                                              const OpenProcess& open);

/// Bytes and switches so far; switches of the threads that live now.
Activity collect_activity(const ProcessSource& process);

/// The difference; what is not known on either side is not known.
Activity activity_since(const Activity& now, const Activity& then);

}  // namespace tracso
