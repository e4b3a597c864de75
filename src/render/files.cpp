#include "render/files.hpp"

#include "base/text.hpp"

#include <set>

namespace tracso {
namespace {

std::set<std::string> paths(const Trace& trace) {
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
  return sorted;
}

}  // namespace

Result<std::string> FilesRenderer::trace(const Trace& trace, const Summary& /*summary*/) const {
  std::string out;
  for (const std::string& path : paths(trace)) {
    out += printable(path) + '\n';  // --files0 has the bytes
  }
  return out;
}

Result<std::string> Files0Renderer::trace(const Trace& trace, const Summary& /*summary*/) const {
  std::string out;
  for (const std::string& path : paths(trace)) {
    out += path + '\0';
  }
  return out;
}

}  // namespace tracso
