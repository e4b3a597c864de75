#include "render/load_words.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace tracso {
namespace {

// "pkg/sub/__init__.py" of "/opt/site-packages/pkg/sub/__init__.py" for the module pkg.sub.
std::string_view below_package(std::string_view file, std::string_view module) {
  const std::string package = fmt::format("/{}/", module.substr(0, module.find('.')));
  const auto at = file.rfind(package);
  return at == std::string_view::npos ? base_name(file) : file.substr(at + 1);
}

std::string_view imported_by(const Importer& importer) {
  return importer.observed ? "imported by " : "probably imported by ";
}

}  // namespace

std::string shown_place(const ImportStep& step) {
  if (step.file.empty()) {
    return step.importer.empty() ? "C code" : printable(step.importer);
  }
  const std::string file = printable(below_package(step.file, step.importer));
  return step.line == 0 ? file : fmt::format("{}:{}", file, step.line);
}

std::string import_chain_text(const std::vector<ImportStep>& imports, bool unicode) {
  std::vector<std::string> words;
  for (const ImportStep& step : imports) {
    words.push_back(shown_place(step));
  }
  if (!imports.empty() && !imports.back().module.empty()) {
    words.push_back(printable(imports.back().module));
  }
  return join(words, unicode ? " → " : " -> ");
}

std::string importer_phrase(const Importer& importer) {
  if (importer.file.empty() || importer.module.empty()) {
    return short_importer_phrase(importer);
  }
  ImportStep step;
  step.importer = importer.module;
  step.file = importer.file;
  step.line = importer.line;
  const std::string place = shown_place(step);
  return fmt::format("{}{} ({})", imported_by(importer), place, printable(importer.module));
}

std::string short_importer_phrase(const Importer& importer) {
  const std::string who = importer.module.empty() ? importer.file : importer.module;
  return fmt::format("{}{}", imported_by(importer), who.empty() ? "C code" : printable(who));
}

std::string milliseconds(std::int64_t nanoseconds) {
  constexpr double millisecond = 1e6;
  return fmt::format("{:.1f} ms", static_cast<double>(nanoseconds) / millisecond);
}

FirstLoads::FirstLoads(const Trace& trace) : by_node_(trace.graph.nodes().size()) {
  for (const Load& load : trace.loads) {
    const Load*& first = by_node_[index(load.object)];
    first = first == nullptr ? &load : first;
  }
}

}  // namespace tracso
