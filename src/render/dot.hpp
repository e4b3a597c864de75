#pragma once
// The graph for Graphviz: kinds by shape and colour, what is missing in red, paths as tooltips.

#include "tracso/renderer.hpp"

namespace tracso {

class DotRenderer final : public Renderer {
 public:
  using Renderer::Renderer;
  Result<std::string> trace(const Trace& trace, const Summary& summary) const override;
  /// The nodes and edges of the chains only.
  Result<std::string> why(const Trace& trace,
                          const Summary& summary,
                          const WhyAnswer& answer) const override;
};

}  // namespace tracso
