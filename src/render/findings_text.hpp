#pragma once
// All findings in full, and what one kind of them means.

#include "tracso/findings.hpp"
#include "tracso/renderer.hpp"

#include <string>

namespace tracso {

/// --findings.
class FindingsRenderer final : public Renderer {
 public:
  using Renderer::Renderer;

  Result<std::string> trace(const Trace& trace, const Summary& summary) const override;
};

/// One paragraph each, worst first: severity, code, sentence, owners, evidence, what to do.
std::string findings_text(const RenderOptions& options, const Trace& trace);
/// What --explain prints.
std::string explained(const RenderOptions& options, const FindingKind& kind);
/// "error", "warning", "note".
std::string_view severity_word(Finding::Severity severity);

}  // namespace tracso
