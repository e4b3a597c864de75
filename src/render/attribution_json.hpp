#pragma once
// The key "attribution" of `tracso stat --json`.

#include "tracso/stat.hpp"

#include "render/json_parts.hpp"

#include <optional>

namespace tracso {

/// null: not asked for, or not known.
Json attribution_json(const std::optional<Attribution>& attribution);

}  // namespace tracso
