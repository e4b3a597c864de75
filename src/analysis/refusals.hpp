#pragma once
// What the loader's words mean when it refuses a library.

#include "tracso/trace.hpp"

#include <string>
#include <vector>

namespace tracso {

/// One sentence per failed load of the trace; empty where the words say it all.
std::vector<std::string> refusals(const Trace& trace);

}  // namespace tracso
