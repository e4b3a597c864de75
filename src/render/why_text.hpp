#pragma once
// --why in words: the answer in the first line, then the chains, the places that were searched and
// the files that lost.

#include "tracso/renderer.hpp"

#include "render/load_words.hpp"

#include <string>
#include <string_view>

namespace tracso {

/// One block per match; why_not_found() where there is none.
std::string why_text(const RenderOptions& options, const Trace& trace, const WhyAnswer& answer);
/// The same for who writes many: `loads` are those of the trace.
std::string why_text(const RenderOptions& options,
                     const Trace& trace,
                     const FirstLoads& loads,
                     const WhyAnswer& answer);

/// "no library in pid:4711 matches 'libfoo'; did you mean libfoo.so.1, libfoo.so.2?" and a final
/// newline.
std::string why_not_found(const Trace& trace, const WhyAnswer& answer);

}  // namespace tracso
