#pragma once
// What the loader's words mean when it refuses a library.

#include "tracso/trace.hpp"

#include <string>
#include <vector>

namespace tracso {

/// One sentence per failed load of the trace; empty where the words say it all.
std::vector<std::string> refusals(const Trace& trace);

/// What the loader ended the program for before its start, with --run; nullptr: it did start, and
/// what was refused then (a preload) was only warned of.
const FailedLoad* refused_start(const Trace& trace);

}  // namespace tracso
