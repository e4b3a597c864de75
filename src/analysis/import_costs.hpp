#pragma once
// What an import brought: libraries, bytes, time in the loader.

#include "tracso/answers.hpp"

#include <vector>

namespace tracso {

/// Every object loaded under an import counts once, for the outermost import that was under way:
/// the statement of the program that caused it all. Objects that are gone again cost time only.
std::vector<ImportCost> import_costs(const Trace& trace);

}  // namespace tracso
