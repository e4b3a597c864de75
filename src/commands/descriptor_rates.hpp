#pragma once
// --rate of `tracso fds`: two looks at what the kernel counts of each descriptor.

#include "tracso/descriptor_rate.hpp"
#include "tracso/resources.hpp"
#include "tracso/target.hpp"

#include <chrono>
#include <cstdint>
#include <vector>

namespace tracso {

/// One for each descriptor, in their order; takes that long.
std::vector<DescriptorRate> measure_rates(const ProcessSource& process,
                                          const std::vector<Descriptor>& descriptors,
                                          std::chrono::milliseconds time);

}  // namespace tracso
