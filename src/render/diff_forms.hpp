#pragma once
// `tracso diff` as text and as a document.

#include "tracso/diff.hpp"
#include "tracso/renderer.hpp"

#include <string>

namespace tracso {

std::string diff_text(const RenderOptions& options, const TraceDiff& diff);
std::string diff_json(const TraceDiff& diff);

}  // namespace tracso
