#pragma once
// The report: what a person reads first. Its columns are read by scripts too and never move.

#include "tracso/renderer.hpp"

namespace tracso {

class ReportRenderer final : public Renderer {
 public:
  using Renderer::Renderer;
  Result<std::string> trace(const Trace& trace, const Summary& summary) const override;
  Result<std::string> why(const Trace& trace,
                          const Summary& summary,
                          const WhyAnswer& answer) const override;
};

}  // namespace tracso
