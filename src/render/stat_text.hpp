#pragma once
// `tracso stat` for people.

#include "tracso/renderer.hpp"
#include "tracso/stat.hpp"

#include <string>

namespace tracso {

std::string stat_text(const RenderOptions& options, const Stat& stat);

}  // namespace tracso
