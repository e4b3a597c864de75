#pragma once
// The graph as an indented tree: what hangs on what, each object's own needs drawn once.

#include "tracso/renderer.hpp"

namespace tracso {

class TreeRenderer final : public Renderer {
 public:
  using Renderer::Renderer;
  Result<std::string> trace(const Trace& trace, const Summary& summary) const override;
  Result<std::string> why(const Trace& trace,
                          const Summary& summary,
                          const WhyAnswer& answer) const override;
};

}  // namespace tracso
