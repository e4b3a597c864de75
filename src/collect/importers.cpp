#include "collect/importers.hpp"

#include "proc/status.hpp"
#include "python/distributions.hpp"
#include "python/importers.hpp"

#include <fmt/format.h>

#include <string_view>
#include <unordered_map>
#include <variant>

namespace tracso {
namespace {

// The edge from a source to the file it is. (The root and children have edges of that kind too.)
bool is_module_edge(const Graph& graph, const Edge& edge) {
  return edge.kind == EdgeKind::origin &&
         std::holds_alternative<PythonSource>(graph[edge.from].subject);
}

std::unordered_map<std::string_view, EdgeId> module_edges(const Graph& graph) {
  std::unordered_map<std::string_view, EdgeId> edges;
  for (std::size_t i = 0; i < graph.edges().size(); ++i) {
    const Edge& edge = graph.edges()[i];
    if (is_module_edge(graph, edge)) {
      edges.emplace(std::get<PythonSource>(graph[edge.from].subject).name, static_cast<EdgeId>(i));
    }
  }
  return edges;
}

void note(Trace& trace,
          const UnreadFiles& unread,
          const char* code,
          const char* what,
          const char* effect) {
  if (unread.count > 0) {
    trace.notices.push_back(
        {code, fmt::format("{} {} ({})", unread.count, what, unread.first), effect, ""});
  }
}

}  // namespace

bool has_module_files(const Trace& trace) {
  bool any_module = false;
  for (const Edge& edge : trace.graph.edges()) {
    if (is_module_edge(trace.graph, edge)) {
      any_module = true;
      const auto& source = std::get<PythonSource>(trace.graph[edge.from].subject);
      if (!edge.importers.empty() || !source.distribution.empty()) {
        return true;
      }
    }
  }
  return !any_module;
}

bool is_process_of(const Trace& trace, const ProcessSource& process) {
  const auto text = process.read("stat");
  const auto stat = text ? proc::parse_stat(*text) : std::nullopt;
  return stat && trace.process && stat->start_time == trace.process->start_time;
}

std::vector<PythonModule> extension_modules(const Trace& trace) {
  const auto edges = module_edges(trace.graph);
  std::vector<PythonModule> extensions;
  for (const auto& module : trace.modules) {
    if (edges.count(module.name) != 0) {
      extensions.push_back(module);
    }
  }
  return extensions;
}

void add_distributions(Trace& trace,
                       const FileSystem& files,
                       const std::optional<ModuleFiles>& known) {
  const auto found =
      known ? known->distributions : python::find_distributions(extension_modules(trace), files);
  for (const auto& [name, id] : module_edges(trace.graph)) {
    const auto title = found.titles.find(std::string(name));
    if (title != found.titles.end()) {
      auto& subject = trace.graph.mutable_node(trace.graph[id].from).subject;
      std::get<PythonSource>(subject).distribution = title->second;
    }
  }
  note(trace,
       found.unread,
       "distributions-unread",
       "files that say what is installed could not be read",
       "distributions may be missing");
}

void add_importers(Trace& trace, const FileSystem& files, const std::optional<ModuleFiles>& known) {
  const auto found = known ? known->imports : python::infer_importers(trace.modules, files);
  const auto edges = module_edges(trace.graph);
  for (const auto& import : found.imports) {
    const auto id = edges.find(import.extension);
    if (id != edges.end() && trace.graph[id->second].importers.empty()) {
      trace.graph.mutable_edge(id->second)
          .importers.push_back({import.module, import.file, import.line, false});
    }
  }
  note(trace,
       found.unread,
       "sources-unread",
       "Python sources could not be read",
       "who imported a module may be missing or another one");
}

}  // namespace tracso
