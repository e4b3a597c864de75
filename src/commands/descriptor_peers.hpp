#pragma once
// Who has the other ends of a process' pipes and sockets.

#include "tracso/resources.hpp"
#include "tracso/target.hpp"
#include "tracso/trace.hpp"

#include <cstdint>
#include <vector>

namespace tracso {

/// Fills Descriptor::peers by looking through all processes once. What could not be looked through
/// is a notice.
void add_peers(std::int32_t pid,
               const ProcessSource& process,
               std::vector<Descriptor>& descriptors,
               std::vector<Notice>& notices);

}  // namespace tracso
