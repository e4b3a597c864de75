#include "tracso/graph.hpp"

#include "support/build_trace.hpp"
#include "support/catch.hpp"

#include <vector>

using namespace tracso;
using tracso::test::make_edge;
using tracso::test::TraceBuilder;

namespace {

std::string name_of(std::string path, std::optional<std::string> soname = std::nullopt) {
  ObjectFile file;
  file.path.text = std::move(path);
  file.elf.dynamic.soname = std::move(soname);
  return display_name({.subject = file, .cost = {}});
}

}  // namespace

TEST_CASE("graph: causes and effects stand in the order they were made", "[graph]") {
  TraceBuilder build;
  const NodeId a = build.library("/a.so"), b = build.library("/b.so"), c = build.library("/c.so");
  const EdgeId ac = build.needs(a, c), bc = build.needs(b, c), ab = build.needs(a, b);
  const Graph& graph = build.trace.graph;
  CHECK(std::vector(graph.causes_of(c).begin(), graph.causes_of(c).end()) == std::vector{ac, bc});
  CHECK(std::vector(graph.effects_of(a).begin(), graph.effects_of(a).end()) == std::vector{ac, ab});
  CHECK(graph.effects_of(c).empty());
  CHECK(graph[bc].from == b);
}

TEST_CASE("graph: to connect twice is to connect once, with both witnesses", "[graph]") {
  TraceBuilder build;
  const NodeId a = build.library("/a.so"), b = build.library("/b.so");
  Edge edge = make_edge(a, b, EdgeKind::needed, "b.so");
  edge.witnesses = {Witness::dynamic_section};
  edge.importers = {{.module = "m", .file = "m.py", .line = 3, .observed = true}};
  edge.optional = true;
  const EdgeId id = build.trace.graph.connect(edge);
  const Graph once = build.trace.graph;
  CHECK(build.trace.graph.connect(edge) == id);
  CHECK(build.trace.graph == once);

  Edge more = make_edge(a, b, EdgeKind::needed, "b.so");
  more.rule = Rule::runpath;
  more.detail = "soname";
  more.witnesses = {Witness::link_map, Witness::dynamic_section};
  more.first = true;
  CHECK(build.trace.graph.connect(more) == id);
  const Edge& merged = build.trace.graph[id];
  CHECK(merged.witnesses == std::vector{Witness::dynamic_section, Witness::link_map});
  CHECK(merged.importers.size() == 1);
  CHECK(merged.rule == Rule::runpath);
  CHECK(merged.detail == "soname");
  CHECK(merged.first);
  CHECK_FALSE(merged.optional);
  CHECK(build.trace.graph.causes_of(b).size() == 1);
}

TEST_CASE("graph: another kind or needed name is another edge", "[graph]") {
  TraceBuilder build;
  const NodeId a = build.library("/a.so"), b = build.library("/b.so");
  build.trace.graph.connect(make_edge(a, b, EdgeKind::needed, "b.so"));
  build.trace.graph.connect(make_edge(a, b, EdgeKind::needed, "./b.so"));
  build.trace.graph.connect(make_edge(a, b, EdgeKind::dlopen, "b.so"));
  CHECK(build.trace.graph.edges().size() == 3);
}

TEST_CASE("graph: a hundred thousand importers of one edge cost no square", "[graph]") {
  TraceBuilder build;
  const NodeId a = build.library("/a.so"), b = build.library("/b.so");
  for (std::uint32_t i = 0; i < 100000; ++i) {
    Edge edge = make_edge(a, b, EdgeKind::needed);
    edge.importers = {{.module = "a.module.with.a.long.name", .file = "/x", .line = i}};
    build.trace.graph.connect(std::move(edge));
  }
  CHECK(build.trace.graph[EdgeId{0}].importers.size() == 100000);
}

TEST_CASE("graph: a library is named by its soname, else by its file without the ABI tag",
          "[graph]") {
  CHECK(name_of("/lib/libz.so.1.2.13", "libz.so.1") == "libz.so.1");
  CHECK(name_of("/lib/libz.so.1.2.13") == "libz.so.1.2.13");
  CHECK(name_of("/lib/libz.so.1.2.13", "") == "libz.so.1.2.13");
  CHECK(name_of("/d/_ssl.cpython-311-x86_64-linux-gnu.so") == "_ssl.so");
  CHECK(name_of("/d/_ssl.cpython-313t-x86_64-linux-gnu.so") == "_ssl.so");
  CHECK(name_of("/d/x.abi3.so", "x.abi3.so") == "x.so");
  CHECK(name_of("/d/libx.2.so") == "libx.2.so");
  CHECK(name_of("/d/.abi3.so") == ".abi3.so");
  CHECK(name_of("/d/x.abi3.so.1") == "x.abi3.so.1");
  CHECK(name_of("/d/bad\xff\n.so") == "bad\xff\n.so");
}

TEST_CASE("graph: every kind of node has its name and its place in the totals", "[graph]") {
  TraceBuilder build;
  const auto node = [&](NodeId id) -> const Node& { return build.trace.graph[id]; };
  const NodeId exe = build.executable("/usr/bin/python3.11");
  const NodeId ld = build.loader("/lib64/ld-linux-x86-64.so.2");
  const NodeId lib = build.library("/lib/libz.so.1"), gone = build.missing("libgone.so.1");
  const NodeId py = build.python("numpy.linalg");
  const NodeId env = build.environment("env:LD_PRELOAD", "x.so"), vdso = build.vdso();

  CHECK(display_name(node(build.root())) == "pid:4192");
  CHECK(display_name(node(exe)) == "python3.11");
  CHECK(display_name(node(gone)) == "libgone.so.1");
  CHECK(display_name(node(py)) == "py:numpy.linalg");
  CHECK(display_name(node(env)) == "env:LD_PRELOAD");
  CHECK(display_name(node(vdso)) == "linux-vdso.so.1");

  CHECK(is_library(node(lib)));
  CHECK(is_library(node(ld)));
  CHECK(is_library(node(gone)));
  CHECK_FALSE(is_counted(node(gone)));
  CHECK(is_counted(node(ld)));
  for (const NodeId other : {build.root(), exe, py, env, vdso}) {
    CHECK_FALSE(is_library(node(other)));
    CHECK(is_source(node(other)) == (other == py || other == env));
  }
}
