#pragma once
// What fills the memory, as lines of the report of `tracso stat`.

#include "tracso/renderer.hpp"
#include "tracso/stat.hpp"

#include <string>

namespace tracso {

std::string attribution_text(const RenderOptions& options, const Attribution& attribution);

}  // namespace tracso
