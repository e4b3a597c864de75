#pragma once
// How answers are printed. One class per form, one table of them.

#include "tracso/analysis.hpp"
#include "tracso/result.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace tracso {

struct RenderOptions {
  bool color = false;
  bool unicode = true;    ///< bars and tree lines; else ASCII
  std::size_t width = 0;  ///< of the terminal; 0: not a terminal, nothing is cut
  std::size_t depth = 8;  ///< chains drawn in tree and DOT
  std::size_t limit_packages = 10, limit_libraries = 15, limit_orphans = 10;  ///< rows; 0: all
  bool costs = false;  ///< resident and private columns
};

class Renderer {
 public:
  explicit Renderer(RenderOptions options) : options_(options) {}

  virtual ~Renderer() = default;
  virtual Result<std::string> trace(const Trace& trace, const Summary& summary) const = 0;
  /// Default: unsupported, with the forms that can as hint.
  virtual Result<std::string> why(const Trace& trace,
                                  const Summary& summary,
                                  const WhyAnswer& answer) const;

 protected:
  RenderOptions options_;
};

struct RendererEntry {
  std::string_view name;     ///< "report", "tree", "json", "csv", "dot"
  std::string_view summary;  ///< one line for --help
  std::unique_ptr<Renderer> (*make)(RenderOptions);
};

std::span<const RendererEntry> renderers();
/// nullptr: no such form.
std::unique_ptr<Renderer> make_renderer(std::string_view name, const RenderOptions& options);

}  // namespace tracso
