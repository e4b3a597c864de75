#pragma once
// Libraries in the order of what they weigh.

#include "tracso/answers.hpp"

#include <vector>

namespace tracso {

/// The libraries of a summary, by the bytes that it ranks by, largest first; those of equal weight
/// as they were.
std::vector<DependedOn> heaviest_libraries(const Trace& trace, const Summary& summary);

}  // namespace tracso
