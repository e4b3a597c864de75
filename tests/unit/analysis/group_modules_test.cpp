#include "tracso/analysis.hpp"

#include "support/build_trace.hpp"
#include "support/catch.hpp"

#include <string>
#include <variant>
#include <vector>

using namespace tracso;
using tracso::test::TraceBuilder;

namespace {

using Names = std::vector<std::string>;

Names sources(const Trace& trace) {
  Names names;
  for (const Node& node : trace.graph.nodes()) {
    if (is_source(node)) {
      names.push_back(display_name(node));
    }
  }
  return names;
}

TraceBuilder numpy() {
  TraceBuilder build;
  build.executable("/usr/bin/python3");
  build.extension("numpy._core._multiarray_umath", "/n/_multiarray_umath.so", 10);
  build.extension("numpy.linalg._umath_linalg", "/n/_umath_linalg.so", 20);
  build.extension("numpy._core._simd", "/n/_simd.so", 30);
  build.extension("_ssl", "/d/_ssl.so", 40);
  build.environment("env:LD_PRELOAD", "x.so");
  return build;
}

}  // namespace

TEST_CASE("group: one source for all modules that begin alike", "[group]") {
  const TraceBuilder build = numpy();
  const Trace two = group_modules(build.trace, 2);
  CHECK(sources(two) == Names{"py:numpy._core", "py:numpy.linalg", "py:_ssl", "env:LD_PRELOAD"});
  CHECK(two.name_depth == 2);
  const auto& core = std::get<PythonSource>(two.graph.nodes()[2].subject);
  CHECK(core.modules == Names{"numpy._core._multiarray_umath", "numpy._core._simd"});
  CHECK(sources(group_modules(build.trace, 1)) == Names{"py:numpy", "py:_ssl", "env:LD_PRELOAD"});
  CHECK(summarize(two, ByteKind::file).packages[0].file == 40);
}

TEST_CASE("group: a trace is never made finer and full names stay", "[group]") {
  const TraceBuilder build = numpy();
  CHECK(group_modules(build.trace, 0) == build.trace);
  const Trace one = group_modules(build.trace, 1);
  CHECK(group_modules(one, 2) == one);
  CHECK(group_modules(one, 0) == one);
  CHECK(group_modules(group_modules(build.trace, 2), 1) == one);
  CHECK(sources(group_modules(build.trace, 9)) == sources(build.trace));
}

TEST_CASE("group: totals and the shares of whole packages do not change", "[group]") {
  const TraceBuilder build = numpy();
  const Summary full = summarize(build.trace, ByteKind::file);
  const Summary cut = summarize(group_modules(build.trace, 1), ByteKind::file);
  CHECK(full.totals.file == cut.totals.file);
  CHECK(full.totals.libraries == cut.totals.libraries);
}

TEST_CASE("group: edges keep their evidence, those that meet are merged", "[group]") {
  TraceBuilder build = numpy();
  const NodeId lib = build.library("/l/liba.so");
  for (const char* name : {"numpy._core._multiarray_umath", "numpy._core._simd"}) {
    const EdgeId id = build.connect(build.python(name), lib, EdgeKind::dlopen);
    build.edge(id).importers = {{.module = name, .file = "x.py", .line = 1, .observed = true}};
    build.edge(id).witnesses = {Witness::trace};
  }
  build.connect(build.python("numpy._core._simd"),
                build.python("numpy._core._multiarray_umath"),
                EdgeKind::origin);
  const Trace two = group_modules(build.trace, 2);
  CHECK(two.graph.edges().size() == build.trace.graph.edges().size() - 2);
  const Edge& merged = two.graph.edges().back();
  CHECK(merged.importers.size() == 2);
  CHECK(merged.witnesses == std::vector{Witness::trace});
  CHECK(display_name(two.graph[merged.to]) == "liba.so");
}

TEST_CASE("group: loads and findings follow their nodes", "[group]") {
  TraceBuilder build = numpy();
  const NodeId simd = build.python("numpy._core._simd"), ssl = build.python("_ssl");
  const NodeId multi = build.python("numpy._core._multiarray_umath");
  const NodeId lib = build.library("/l/libz.so");
  Load load;
  load.object = lib;
  load.cause = simd;
  build.trace.loads = {load};
  Finding finding;
  finding.nodes = {simd, lib, multi, ssl};
  finding.owners = {"py:numpy._core._simd", "py:numpy._core._multiarray_umath", "somebody"};
  build.trace.findings = {finding};
  const Trace two = group_modules(build.trace, 2);
  CHECK(display_name(two.graph[two.loads[0].object]) == "libz.so");
  CHECK(display_name(two.graph[*two.loads[0].cause]) == "py:numpy._core");
  REQUIRE(two.findings[0].nodes.size() == 3);
  CHECK(display_name(two.graph[two.findings[0].nodes[0]]) == "py:numpy._core");
  CHECK(display_name(two.graph[two.findings[0].nodes[2]]) == "py:_ssl");
  CHECK(two.findings[0].owners == Names{"py:numpy._core", "somebody"});
}

TEST_CASE("group: several distributions of one name are all named", "[group]") {
  TraceBuilder build;
  build.python("google.protobuf._x", "protobuf 4.1");
  build.python("google.crc32c._y", "google-crc32c 1.5");
  build.python("google.protobuf._z", "protobuf 4.1");
  const Trace one = group_modules(build.trace, 1);
  CHECK(std::get<PythonSource>(one.graph.nodes()[1].subject).distribution ==
        "google-crc32c 1.5, protobuf 4.1");
  const Trace two = group_modules(build.trace, 2);
  CHECK(std::get<PythonSource>(two.graph.nodes()[1].subject).distribution == "protobuf 4.1");
}

TEST_CASE("group: strange names are cut where their dots are", "[group]") {
  TraceBuilder build;
  for (const char* name : {"", ".", "a..b", "...."}) {
    build.python(name);
  }
  CHECK(sources(group_modules(build.trace, 2)) == Names{"py:", "py:.", "py:a."});
  CHECK(sources(group_modules(build.trace, 1)) == Names{"py:", "py:a"});
}

TEST_CASE("group: counted calls stay between the same objects", "[group]") {
  TraceBuilder build = numpy();
  const NodeId blas = build.library("/usr/lib/libblas.so.3", 10);
  NodeId umath{};
  for (std::size_t i = 0; i < build.trace.graph.nodes().size(); ++i) {
    const NodeId id{static_cast<std::uint32_t>(i)};
    umath = display_name(build.trace.graph[id]) == "_umath_linalg.so" ? id : umath;
  }
  build.trace.calls = CallWatch{1'000'000'000, {{umath, blas, 7}}, 0};
  const Trace cut = group_modules(build.trace, 1);
  REQUIRE(cut.calls);
  CHECK(display_name(cut.graph[cut.calls->pairs[0].caller]) == "_umath_linalg.so");
  CHECK(display_name(cut.graph[cut.calls->pairs[0].callee]) == "libblas.so.3");
}
