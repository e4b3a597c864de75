#pragma once
// What fills the memory, as lines of the report of `tracso stat`.

#include "tracso/renderer.hpp"
#include "tracso/stat.hpp"

#include <cstddef>
#include <string>

namespace tracso {

/// Of what stands before the lines of that report: "memory    ".
constexpr std::size_t label_columns = 10;

std::string attribution_text(const RenderOptions& options, const Attribution& attribution);

}  // namespace tracso
