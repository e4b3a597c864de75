#pragma once
// The part of dup-library that looks into files.

#include "findings/evidence.hpp"

#include <vector>

namespace tracso::findings {

/// Libraries of which one copy at least is linked into another file.
std::vector<Finding> duplicates_inside(const Evidence& evidence);

}  // namespace tracso::findings
