#pragma once
// --files, --files0: what an image of the process has to hold.

#include "tracso/renderer.hpp"

namespace tracso {

/// The path of each file that is mapped as code (of a FILE: that would be), sorted, one a line;
/// deleted ones are left out, nothing can copy them.
class FilesRenderer : public Renderer {
 public:
  using Renderer::Renderer;
  Result<std::string> trace(const Trace& trace, const Summary& summary) const override;
};

/// The same with a NUL behind each, for rsync -0 and xargs -0.
class Files0Renderer final : public FilesRenderer {
 public:
  using FilesRenderer::FilesRenderer;
  Result<std::string> trace(const Trace& trace, const Summary& summary) const override;
};

}  // namespace tracso
