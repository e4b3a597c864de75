#pragma once
// Memory by use, as documents have it.

#include "tracso/resources.hpp"

#include "render/json_parts.hpp"

#include <optional>

namespace tracso {

/// "by_class": each class with its bytes; null: not measured.
Json classes_json(const std::optional<MemoryByClass>& memory);

/// "memory" of a tree: the whole, then by_class; null: not measured.
Json memory_json(const std::optional<MemoryByClass>& memory);

}  // namespace tracso
