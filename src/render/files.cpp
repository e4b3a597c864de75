#include "render/files.hpp"

#include <set>

namespace tracso {
namespace {

std::string paths(const Trace& trace, char end) {
  std::set<std::string> sorted;
  for (const Node& node : trace.graph.nodes()) {
    const ObjectFile* file = object(node);
    const bool there = file != nullptr && file->state != ObjectFile::State::missing &&
                       file->state != ObjectFile::State::deleted &&
                       file->path.text.starts_with('/') && !file->path.text.starts_with("/memfd:");
    if (there && (file->loaded || !trace.process)) {
      sorted.insert(file->path.text);
    }
  }
  std::string out;
  for (const std::string& path : sorted) {
    out += path + end;
  }
  return out;
}

}  // namespace

Result<std::string> FilesRenderer::trace(const Trace& trace, const Summary& /*summary*/) const {
  return paths(trace, '\n');
}

Result<std::string> Files0Renderer::trace(const Trace& trace, const Summary& /*summary*/) const {
  return paths(trace, '\0');
}

}  // namespace tracso
