#pragma once
// Descriptors of two moments.

#include "tracso/stat.hpp"

#include <span>
#include <string>
#include <vector>

namespace tracso {

/// The difference of two multisets, by what the descriptors are open on: the same file open twice
/// more is two opened, a file that moved to another number is none. Of several descriptors on the
/// same target those whose numbers are new count as the opened ones.
DescriptorChange compare_descriptors(std::span<const Descriptor> before,
                                     std::span<const Descriptor> after);

}  // namespace tracso
