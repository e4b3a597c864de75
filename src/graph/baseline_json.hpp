#pragma once
// Reads back what --save-baseline wrote (docs/json.md).

#include "tracso/result.hpp"
#include "tracso/stat.hpp"

#include <string_view>

namespace tracso {

/// A document of kind "baseline". `name` is the file, for the Error: malformed.
Result<Baseline> read_baseline_json(std::string_view text, std::string_view name);

}  // namespace tracso
