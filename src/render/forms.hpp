#pragma once
// The forms that answer for a whole trace and for --why alike, a class each (renderers.cpp makes
// them).

#include "tracso/renderer.hpp"

namespace tracso {

/// What a person reads first. Its columns are read by scripts too and never move.
class ReportRenderer final : public Renderer {
 public:
  using Renderer::Renderer;
  Result<std::string> trace(const Trace&, const Summary&) const override;
  Result<std::string> why(const Trace&, const Summary&, const WhyAnswer&) const override;
};

/// What hangs on what; of --run, what was loaded when.
class TreeRenderer final : public Renderer {
 public:
  using Renderer::Renderer;
  Result<std::string> trace(const Trace&, const Summary&) const override;
  Result<std::string> why(const Trace&, const Summary&, const WhyAnswer&) const override;
};

/// The document (docs/json.md).
class JsonRenderer final : public Renderer {
 public:
  using Renderer::Renderer;
  Result<std::string> trace(const Trace&, const Summary&) const override;
  Result<std::string> why(const Trace&, const Summary&, const WhyAnswer&) const override;
};

/// One row per library, for spreadsheets and scripts; of --why the matches only.
class CsvRenderer final : public Renderer {
 public:
  using Renderer::Renderer;
  Result<std::string> trace(const Trace&, const Summary&) const override;
  Result<std::string> why(const Trace&, const Summary&, const WhyAnswer&) const override;
};

/// The graph for Graphviz: kinds by shape and colour, what is missing in red, paths as tooltips;
/// of --why the nodes and edges of its chains only.
class DotRenderer final : public Renderer {
 public:
  using Renderer::Renderer;
  Result<std::string> trace(const Trace&, const Summary&) const override;
  Result<std::string> why(const Trace&, const Summary&, const WhyAnswer&) const override;
};

/// One self-contained page: the document, the answers to --why, and the script that draws them;
/// of --why with its first library chosen.
class HtmlRenderer final : public Renderer {
 public:
  using Renderer::Renderer;
  Result<std::string> trace(const Trace&, const Summary&) const override;
  Result<std::string> why(const Trace&, const Summary&, const WhyAnswer&) const override;
};

/// False in a build that had no d3 at hand (docs/architecture.md, "Texts that the program
/// carries").
bool has_html();

}  // namespace tracso
