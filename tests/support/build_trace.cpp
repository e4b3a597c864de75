#include "support/build_trace.hpp"

#include "base/text.hpp"

#include <utility>
#include <variant>

namespace tracso::test {

Edge make_edge(NodeId from, NodeId to, EdgeKind kind, std::string_view needed) {
  Edge edge;
  edge.from = from;
  edge.to = to;
  edge.kind = kind;
  edge.needed = std::string(needed);
  return edge;
}

TraceBuilder::TraceBuilder(std::string label, std::int32_t pid) {
  trace.target = label;
  root_ = trace.graph.add(TargetRoot{.label = std::move(label), .pid = pid});
  if (pid != 0) {
    trace.process = ProcessInfo{};
    trace.process->pid = pid;
  }
}

NodeId TraceBuilder::executable(std::string_view path, std::uint64_t bytes) {
  const NodeId id = object(ObjectFile::Role::executable, path, bytes);
  connect(root_, id, EdgeKind::origin);
  if (!program_) {
    program_ = id;
    trace.interpreter = std::string(path);
    if (trace.process) {
      trace.process->exe = std::string(path);
    }
  }
  return id;
}

NodeId TraceBuilder::loader(std::string_view path, std::uint64_t bytes) {
  const NodeId id = object(ObjectFile::Role::loader, path, bytes);
  file(id).elf.dynamic.soname = std::string(base_name(path));
  if (program_) {
    connect(*program_, id, EdgeKind::interpreter);
  }
  return id;
}

NodeId TraceBuilder::library(std::string_view path, std::uint64_t bytes) {
  return object(ObjectFile::Role::library, path, bytes);
}

NodeId TraceBuilder::missing(std::string_view wanted) {
  const NodeId id = trace.graph.add(ObjectFile{});
  file(id).state = ObjectFile::State::missing;
  file(id).wanted = std::string(wanted);
  return id;
}

NodeId TraceBuilder::python(std::string_view name, std::string_view distribution) {
  for (std::size_t i = 0; i < trace.graph.nodes().size(); ++i) {
    const auto* known = std::get_if<PythonSource>(&trace.graph.nodes()[i].subject);
    if (known != nullptr && known->name == name) {
      return static_cast<NodeId>(i);
    }
  }
  PythonSource source;
  source.name = std::string(name);
  source.distribution = std::string(distribution);
  return trace.graph.add(std::move(source));
}

NodeId TraceBuilder::extension(std::string_view module,
                               std::string_view path,
                               std::uint64_t bytes) {
  const NodeId source = python(module);
  std::get<PythonSource>(trace.graph.mutable_node(source).subject).modules.emplace_back(module);
  const NodeId id = library(path, bytes);
  connect(source, id, EdgeKind::origin);
  return id;
}

NodeId TraceBuilder::environment(std::string_view name, std::string_view text) {
  return trace.graph.add(EnvironmentOrigin{.name = std::string(name), .text = std::string(text)});
}

NodeId TraceBuilder::vdso() {
  return trace.graph.add(Vdso{.soname = "linux-vdso.so.1"});
}

EdgeId TraceBuilder::needs(NodeId from, NodeId to) {
  Edge edge = make_edge(from, to, EdgeKind::needed);
  const ObjectFile& wanted = file(to);
  edge.needed = wanted.elf.dynamic.soname.value_or(std::string(base_name(wanted.path.text)));
  if (wanted.state == ObjectFile::State::missing) {
    edge.needed = wanted.wanted;
  }
  edge.witnesses = {Witness::dynamic_section};
  return trace.graph.connect(std::move(edge));
}

EdgeId TraceBuilder::connect(NodeId from, NodeId to, EdgeKind kind) {
  return trace.graph.connect(make_edge(from, to, kind));
}

ObjectFile& TraceBuilder::file(NodeId id) {
  return std::get<ObjectFile>(trace.graph.mutable_node(id).subject);
}

NodeId TraceBuilder::object(ObjectFile::Role role, std::string_view path, std::uint64_t bytes) {
  ObjectFile made;
  made.role = role;
  made.loaded = trace.process.has_value();
  made.path.text = std::string(path);
  made.device = 1;
  made.inode = next_inode_++;
  const std::string_view name = base_name(path);
  if (name.starts_with("lib")) {
    made.elf.dynamic.soname = std::string(name);
  }
  const NodeId id = trace.graph.add(std::move(made));
  cost(id).file = bytes;
  return id;
}

}  // namespace tracso::test
