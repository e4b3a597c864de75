#include "render/files.hpp"
#include "render/findings_text.hpp"
#include "render/forms.hpp"

#include <array>

namespace tracso {
namespace {

template <class T>
std::unique_ptr<Renderer> made(RenderOptions options) {
  return std::make_unique<T>(options);
}

}  // namespace

Result<std::string> Renderer::why(const Trace& /*trace*/,
                                  const Summary& /*summary*/,
                                  const WhyAnswer& /*answer*/) const {
  return Error{ErrorKind::unsupported,
               "print",
               "an answer to --why",
               "this form holds whole traces only",
               "leave the form out for text, or use --json"};
}

std::span<const RendererEntry> renderers() {
  static constexpr std::array table{
      RendererEntry{
          "report", "what is loaded, from where, and what it weighs", made<ReportRenderer>},
      RendererEntry{
          "findings", "what looks wrong, with evidence and advice", made<FindingsRenderer>},
      RendererEntry{"tree", "what hangs on what", made<TreeRenderer>},
      RendererEntry{"json", "everything, for scripts and --from", made<JsonRenderer>},
      RendererEntry{"csv", "one row per library", made<CsvRenderer>},
      RendererEntry{"dot", "the graph for Graphviz", made<DotRenderer>},
      RendererEntry{"html", "one page with everything, to click through", made<HtmlRenderer>},
      RendererEntry{"files", "the mapped files, one a line", made<FilesRenderer>},
      RendererEntry{"files0", "the same with a NUL behind each", made<Files0Renderer>}};
  return table;
}

std::unique_ptr<Renderer> make_renderer(std::string_view name, const RenderOptions& options) {
  for (const RendererEntry& entry : renderers()) {
    if (entry.name == name && (name != "html" || has_html())) {
      return entry.make(options);
    }
  }
  return nullptr;
}

}  // namespace tracso
