#pragma once
// Which libraries were called while --calls counted, and by whom.

#include "tracso/answers.hpp"

#include <vector>

namespace tracso {

/// Per node; empty: calls were not counted. `sources`: per node, the sources that reach it.
std::vector<CalledLibrary> called_libraries(const Trace& trace,
                                            const std::vector<std::vector<NodeId>>& sources);

}  // namespace tracso
