#include "collect/dlopen_hints.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace tracso {
namespace {

constexpr std::size_t chunk_bytes = std::size_t{1} << 20;
constexpr std::uint64_t most_hint_bytes = std::uint64_t{256} << 20;
constexpr std::size_t shortest_name = 8;  // "libm.so" would be found everywhere

struct Wanted {
  EdgeId edge{};
  NodeId node{};
  std::string path;
  std::vector<std::string> callers;
};

std::vector<Wanted> unknown_callers(const Workspace& work) {
  std::vector<Wanted> wanted;
  const Graph& graph = work.trace.graph;
  for (std::size_t i = 0; i < graph.edges().size(); ++i) {
    const Edge& edge = graph.edges()[i];
    const ObjectFile* file = object(graph[edge.to]);
    if (edge.kind == EdgeKind::dlopen && edge.from == work.root && file != nullptr &&
        file->first_cause == "dlopen") {
      const std::string name = edge.needed.empty() ? file->path.text : edge.needed;
      if (name.size() >= shortest_name) {
        wanted.push_back({static_cast<EdgeId>(i), edge.to, name, {}});
      }
    }
  }
  return wanted;
}

// Chunks overlap by the longest name, so that none is cut in two.
void search_file(const File& file,
                 std::vector<Wanted>& wanted,
                 const std::string& object_name,
                 NodeId node,
                 std::uint64_t& budget) {
  std::size_t longest = 0;
  for (const auto& one : wanted) {
    longest = std::max(longest, one.path.size());
  }
  std::string buffer(chunk_bytes + longest, '\0');
  for (std::uint64_t offset = 0; budget > 0;) {
    const auto count = file.read_at(offset, std::as_writable_bytes(std::span(buffer)));
    if (!count || *count == 0) {
      return;
    }
    const std::string_view text(buffer.data(), *count);
    for (auto& one : wanted) {
      const bool known =
          std::find(one.callers.begin(), one.callers.end(), object_name) != one.callers.end();
      if (one.node != node && !known && text.find(one.path) != std::string_view::npos) {
        one.callers.push_back(object_name);
      }
    }
    budget -= std::min<std::uint64_t>(budget, chunk_bytes);
    offset += chunk_bytes;
    if (*count < buffer.size()) {
      return;
    }
  }
}

}  // namespace

void add_dlopen_hints(Workspace& work) {
  auto wanted = unknown_callers(work);
  std::uint64_t budget = most_hint_bytes;
  for (std::size_t i = 0; i < work.mapped.objects.size() && !wanted.empty() && budget > 0; ++i) {
    const MappedObject& object = work.mapped.objects[i];
    const Mapping& mapping = work.facts.mappings[object.mappings.front()];
    const auto file = work.target.process->open_mapped(
        {mapping.start, mapping.end, mapping.device, mapping.inode});
    if (file) {
      const NodeId node = work.node_of_object[i];
      search_file(**file, wanted, display_name(work.trace.graph[node]), node, budget);
    }
  }
  if (budget == 0) {
    work.trace.notices.push_back({"dlopen-hints-cut",
                                  "the mapped files are larger than what is searched for names",
                                  "who may have called dlopen is not known of all libraries",
                                  ""});
  }
  for (const auto& one : wanted) {
    if (!one.callers.empty()) {
      Edge& edge = work.trace.graph.mutable_edge(one.edge);
      edge.detail += fmt::format("; probably {}: its path appears in {} (inferred)",
                                 one.callers.front(),
                                 join(one.callers, ", "));
    }
  }
}

}  // namespace tracso
