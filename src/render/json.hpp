#pragma once
// The document of docs/json.md.

#include "tracso/renderer.hpp"

namespace tracso {

class JsonRenderer final : public Renderer {
 public:
  using Renderer::Renderer;
  Result<std::string> trace(const Trace& trace, const Summary& summary) const override;
  Result<std::string> why(const Trace& trace,
                          const Summary& summary,
                          const WhyAnswer& answer) const override;
};

}  // namespace tracso
