#include "render/dot_look.hpp"

#include "base/text.hpp"
#include "render/words.hpp"

#include <array>
#include <utility>

namespace tracso {
namespace {

constexpr DotLook missing_node{
    "not found", R"(shape=box,style="rounded,dashed",color="#dc2626",fontcolor="#dc2626")"};

DotLook object_look(const ObjectFile& file) {
  if (file.state == ObjectFile::State::missing) {
    return missing_node;
  }
  if (file.role == ObjectFile::Role::executable) {
    return {"program", R"(shape=box,style="filled,bold",fillcolor="#d4d4d8")"};
  }
  if (file.role == ObjectFile::Role::loader) {
    return {"loader", R"(shape=component,style=filled,fillcolor="#e4e4e7",color="#71717a")"};
  }
  if (file.state != ObjectFile::State::current) {
    return {"library, changed on disk",
            R"(shape=box,style="rounded,filled,bold",fillcolor="#fef3c7",color="#d97706")"};
  }
  if (file.baseline) {
    return {"library of the bare program",
            R"(shape=box,style="rounded,filled",fillcolor="#f4f4f5",color="#71717a")"};
  }
  return {"library", R"(shape=box,style="rounded,filled",fillcolor="#dbeafe",color="#3b82f6")"};
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    if (c == '&') {
      out += "&amp;";
      continue;
    }
    if (c == '"' || c == '\\') {
      out += '\\';
    }
    out += c;
  }
  return out;
}

}  // namespace

DotLook node_look(const Node& node) {
  if (const ObjectFile* file = object(node)) {
    return object_look(*file);
  }
  if (std::holds_alternative<TargetRoot>(node.subject)) {
    return {"target", R"(shape=box3d,style=filled,fillcolor="#3f3f46",fontcolor=white)"};
  }
  if (std::holds_alternative<PythonSource>(node.subject)) {
    return {"Python module", R"(shape=ellipse,style=filled,fillcolor="#fde68a",color="#ca8a04")"};
  }
  if (std::holds_alternative<EnvironmentOrigin>(node.subject)) {
    return {"preload or audit",
            R"(shape=hexagon,style=filled,fillcolor="#fdba74",color="#c2410c")"};
  }
  return {"vdso", R"(shape=note,style=dashed,color="#71717a")"};
}

DotLook edge_look(const Graph& graph, const Summary& summary, EdgeId id) {
  const Edge& edge = graph[id];
  if (is_missing(graph[edge.to])) {
    return {"not found", R"(style=dashed,color="#dc2626",penwidth=1.6)"};
  }
  if (summary.cycle[index(id)]) {
    return {"cycle", R"(style=dashed,color="#a21caf",constraint=false)"};
  }
  switch (edge.kind) {
    case EdgeKind::origin:
      return {"origin", R"(color="#18181b",penwidth=1.4)"};
    case EdgeKind::interpreter:
      return {"interpreter", R"(style=dotted,color="#71717a")"};
    case EdgeKind::needed:
      return {"needed", R"(color="#94a3b8")"};
    case EdgeKind::filter:
    case EdgeKind::auxiliary:
      return {"filter", R"(style=dotted,color="#7c3aed")"};
    case EdgeKind::preload:
      return {"preload", R"(color="#ea580c",penwidth=1.8)"};
    case EdgeKind::audit:
      return {"audit", R"(style=dashed,color="#ea580c",penwidth=1.8)"};
    case EdgeKind::dlopen:
      return {"dlopen", R"(style=dashed,color="#2563eb")"};
  }
  return {"", ""};
}

std::string_view common_library(std::string_view soname) {
  using Common = std::pair<std::string_view, std::string_view>;
  static constexpr std::array common{Common{"libc.so.", "libc"},
                                     Common{"libm.so.", "libm"},
                                     Common{"ld-linux", "ld.so"},
                                     Common{"libgcc_s.so.", "libgcc_s"},
                                     Common{"libstdc++.so.", "libstdc++"},
                                     Common{"libpthread.so.", "libpthread"},
                                     Common{"libdl.so.", "libdl"},
                                     Common{"librt.so.", "librt"},
                                     Common{"libz.so.", "libz"}};
  for (const auto& [prefix, name] : common) {
    if (soname.starts_with(prefix)) {
      return name;
    }
  }
  return {};
}

std::string dot_string(std::string_view text) {
  return '"' + escaped(text) + '"';
}

std::string dot_label(std::span<const std::string> lines) {
  std::string out = "\"";
  for (const std::string& line : lines) {
    out += (out.size() > 1 ? "\\n" : "") + escaped(line);
  }
  return out + '"';
}

}  // namespace tracso
