#pragma once
// Every descriptor of a process, resolved.

#include "tracso/resources.hpp"
#include "tracso/result.hpp"
#include "tracso/target.hpp"
#include "tracso/trace.hpp"

#include "proc/descriptors.hpp"

#include <cstdint>
#include <vector>

namespace tracso {

/// In the order of numbers. What `borrow` cannot tell of sockets is looked up in the tables of the
/// process' network namespace; where both fail, a notice says so. A descriptor that is closed
/// meanwhile is left out. Errors: denied, not_found, interrupted.
Result<std::vector<Descriptor>> collect_descriptors(const ProcessSource& process,
                                                    const proc::Borrow& borrow,
                                                    std::vector<Notice>& notices);

/// Numbers and links only: what two moments are compared by. 3 microseconds each.
Result<std::vector<Descriptor>> list_descriptors(const ProcessSource& process);

}  // namespace tracso
