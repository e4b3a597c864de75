#pragma once
// One self-contained page: the document, the answers to --why, and the script that draws them.

#include "tracso/renderer.hpp"

namespace tracso {

/// False in a build that had no d3 at hand (docs/architecture.md, "Texts that the program
/// carries").
bool has_html();

class HtmlRenderer final : public Renderer {
 public:
  using Renderer::Renderer;
  Result<std::string> trace(const Trace& trace, const Summary& summary) const override;
  /// The same page, with the first library of the answer chosen.
  Result<std::string> why(const Trace& trace,
                          const Summary& summary,
                          const WhyAnswer& answer) const override;
};

}  // namespace tracso
