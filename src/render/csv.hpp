#pragma once
// One row per library, for spreadsheets and scripts.

#include "tracso/renderer.hpp"

namespace tracso {

class CsvRenderer final : public Renderer {
 public:
  using Renderer::Renderer;
  Result<std::string> trace(const Trace& trace, const Summary& summary) const override;
  /// The same columns, the matches only.
  Result<std::string> why(const Trace& trace,
                          const Summary& summary,
                          const WhyAnswer& answer) const override;
};

}  // namespace tracso
