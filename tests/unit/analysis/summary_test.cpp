#include "tracso/analysis.hpp"

#include "support/build_trace.hpp"
#include "support/catch.hpp"

#include <limits>
#include <string>
#include <vector>

using namespace tracso;
using tracso::test::TraceBuilder;

namespace {

constexpr std::uint64_t mega = 1024 * 1024;

using Names = std::vector<std::string>;

Names names(const Trace& trace, const std::vector<NodeId>& nodes) {
  Names result;
  for (const NodeId node : nodes) {
    result.push_back(display_name(trace.graph[node]));
  }
  return result;
}

Names table(const Trace& trace, const Summary& summary) {
  std::vector<NodeId> nodes;
  for (const DependedOn& row : summary.libraries) {
    nodes.push_back(row.node);
  }
  return names(trace, nodes);
}

Names packages(const Summary& summary) {
  Names result;
  for (const Package& package : summary.packages) {
    result.push_back(package.name);
  }
  return result;
}

}  // namespace

TEST_CASE("summary: an empty graph has nothing to say", "[summary]") {
  const Summary summary = summarize(Trace{}, ByteKind::file);
  CHECK(summary.totals.libraries == 0);
  CHECK(summary.packages.empty());
  CHECK(summary.libraries.empty());
  CHECK(summary.orphans.empty());
  CHECK(summary.notable.empty());
  CHECK(summary.ids.empty());
  CHECK_FALSE(summary.totals.resident);
}

TEST_CASE("summary: totals count loaded libraries and the loader, no program, vdso or missing one",
          "[summary]") {
  TraceBuilder build;
  build.executable("/usr/bin/x", 1000);
  build.loader("/lib/ld-linux-x86-64.so.2", 10);
  build.library("/lib/liba.so", 5);
  const NodeId not_loaded = build.library("/lib/libb.so", 700);
  build.file(not_loaded).loaded = false;
  build.missing("libgone.so");
  build.vdso();
  const Summary summary = summarize(build.trace, ByteKind::file);
  CHECK(summary.totals.libraries == 2);
  CHECK(summary.totals.file == 15);
  CHECK(table(build.trace, summary) == Names{"ld-linux-x86-64.so.2", "liba.so"});
}

TEST_CASE("summary: of a FILE everything found counts, loaded or not", "[summary]") {
  TraceBuilder build("x", 0);
  const NodeId exe = build.executable("/usr/bin/x", 1000), a = build.library("/lib/liba.so", 5);
  build.needs(exe, a);
  build.needs(a, build.missing("libgone.so"));
  const Summary summary = summarize(build.trace, ByteKind::file);
  CHECK(summary.totals.libraries == 1);
  CHECK(summary.totals.file == 5);
  CHECK_FALSE(summary.totals.resident);
  CHECK(packages(summary) == Names{"(unattributed / system)"});
}

TEST_CASE("summary: resident bytes are given only where all are known", "[summary]") {
  TraceBuilder build;
  const NodeId a = build.extension("m", "/lib/liba.so", 5), b = build.library("/lib/libb.so", 7);
  build.cost(a).resident = 3;
  build.cost(a).private_bytes = 1;
  build.cost(b).resident = 4;
  Summary summary = summarize(build.trace, ByteKind::resident);
  CHECK(summary.totals.resident == 7);
  CHECK_FALSE(summary.totals.private_bytes);
  REQUIRE(packages(summary) == Names{"py:m", "(unattributed / system)"});
  CHECK(summary.packages[0].resident == 3);
  CHECK(summary.packages[0].private_bytes == 1);
  CHECK_FALSE(summary.packages[1].private_bytes);
  CHECK(summary.packages[0].share == Approx(3.0 / 7));
  build.cost(b).resident = std::nullopt;
  CHECK_FALSE(summarize(build.trace, ByteKind::resident).totals.resident);
}

TEST_CASE("summary: sizes that a document made up saturate", "[summary]") {
  TraceBuilder build;
  build.library("/lib/liba.so", std::numeric_limits<std::uint64_t>::max());
  build.library("/lib/libb.so", 10);
  CHECK(summarize(build.trace, ByteKind::file).totals.file ==
        std::numeric_limits<std::uint64_t>::max());
}

TEST_CASE("summary: packages rank by bytes, then name, the unattributed last", "[summary]") {
  TraceBuilder build;
  const NodeId exe = build.executable("/usr/bin/python3");
  build.extension("b", "/d/b.so", 10);
  build.extension("a", "/d/a.so", 10);
  build.extension("c", "/d/c.so", 11);
  build.python("owns_nothing", "nothing 1");
  build.needs(exe, build.library("/l/libbig.so", 1000));
  const NodeId env = build.environment("env:LD_PRELOAD", "liby.so");
  build.connect(env, build.library("/l/liby.so", 500), EdgeKind::preload);
  std::get<PythonSource>(build.trace.graph.mutable_node(build.python("c")).subject).distribution =
      "see 1.0";
  const Summary summary = summarize(build.trace, ByteKind::file);
  CHECK(packages(summary) ==
        Names{"env:LD_PRELOAD", "py:c", "py:a", "py:b", "(unattributed / system)"});
  CHECK(summary.packages[1].distribution == "see 1.0");
  CHECK(summary.packages[1].source == build.python("c"));
  CHECK(summary.packages[1].libraries == 1);
  CHECK_FALSE(summary.packages.back().source);
}

TEST_CASE("summary: a library of k packages counts in each and gives each its part", "[summary]") {
  TraceBuilder build;
  const NodeId a = build.extension("a", "/d/a.so"), b = build.extension("b", "/d/b.so");
  const NodeId shared = build.library("/l/libs.so", 101);
  build.needs(a, shared);
  build.needs(b, shared);
  const Summary summary = summarize(build.trace, ByteKind::file);
  REQUIRE(packages(summary) == Names{"py:a", "py:b"});
  CHECK(summary.packages[0].file == 51);
  CHECK(summary.packages[1].file == 50);
  CHECK(summary.packages[0].libraries == 2);
  CHECK(names(build.trace, summary.sources[index(shared)]) == Names{"py:a", "py:b"});
}

TEST_CASE("summary: in-degree counts distinct needers and sources, not the label", "[summary]") {
  TraceBuilder build;
  const NodeId exe = build.executable("/usr/bin/python3");
  const NodeId ext = build.extension("m", "/d/m.so"), lib = build.library("/l/liba.so");
  build.needs(exe, lib);
  build.needs(ext, lib);
  build.connect(ext, lib, EdgeKind::dlopen);                // the same object again
  build.needs(lib, lib);                                    // itself
  build.connect(build.root(), lib, EdgeKind::dlopen);       // the label
  build.connect(build.python("m"), lib, EdgeKind::dlopen);  // a source
  build.needs(lib, build.missing("libgone.so"));
  const Summary summary = summarize(build.trace, ByteKind::file);
  CHECK(summary.in_degree[index(lib)] == 3);
  CHECK(summary.out_degree[index(lib)] == 1);
  CHECK(summary.in_degree[index(exe)] == 0);
  CHECK(summary.in_degree[index(ext)] == 1);
  CHECK(summary.out_degree[index(build.root())] == 2);
  CHECK(summary.libraries[0].in_degree == 3);
  CHECK(summary.libraries[0].packages == 1);
}

TEST_CASE("summary: the most depended-on rank by in-degree, then size, then name", "[summary]") {
  TraceBuilder build;
  const NodeId exe = build.executable("/usr/bin/x");
  const NodeId a = build.library("/l/liba.so", 5), b = build.library("/l/libb.so", 9);
  const NodeId c = build.library("/l/libc1.so", 9), d = build.library("/l/libd.so", 1);
  for (const NodeId lib : {a, c, b, d}) {
    build.needs(exe, lib);
  }
  build.needs(a, d);
  const Summary summary = summarize(build.trace, ByteKind::file);
  CHECK(table(build.trace, summary) == Names{"libd.so", "libb.so", "libc1.so", "liba.so"});
}

TEST_CASE("summary: orphans have neither source nor object parent", "[summary]") {
  TraceBuilder build;
  const NodeId exe = build.executable("/usr/bin/python3");
  build.loader("/lib/ld-linux-x86-64.so.2", 10);
  const NodeId needed = build.library("/l/liba.so", 1), small = build.library("/l/libo.so", 2);
  const NodeId large = build.library("/l/libp.so", 3), self = build.library("/l/libq.so", 2);
  build.needs(exe, needed);
  build.connect(build.root(), small, EdgeKind::dlopen);
  build.connect(build.root(), large, EdgeKind::dlopen);
  build.needs(self, self);
  build.connect(build.environment("env:LD_PRELOAD", "x"),
                build.library("/l/libpre.so", 50),
                EdgeKind::preload);
  build.extension("m", "/d/m.so", 9);
  build.missing("libgone.so");
  const Summary summary = summarize(build.trace, ByteKind::file);
  CHECK(names(build.trace, summary.orphans) == Names{"libp.so", "libo.so", "libq.so"});
}

TEST_CASE("summary: without an interpreter edge the loader is no orphan either", "[summary]") {
  TraceBuilder build;
  build.loader("/lib/ld-linux-x86-64.so.2", 10);
  CHECK(summarize(build.trace, ByteKind::file).orphans.empty());
}

TEST_CASE("summary: the FILE that was asked for is no orphan", "[summary]") {
  TraceBuilder build("liba.so", 0);
  const NodeId file = build.library("/l/liba.so", 1);
  build.connect(build.root(), file, EdgeKind::origin);
  CHECK(summarize(build.trace, ByteKind::file).orphans.empty());
}

TEST_CASE("summary: an object twice in the process by dlmopen counts once", "[summary]") {
  TraceBuilder build;
  const NodeId lib = build.library("/l/liba.so", 40);
  build.file(lib).bases = {0x7f0000000000, 0x7f0000100000};
  build.file(lib).link_namespace = 1;
  const Summary summary = summarize(build.trace, ByteKind::file);
  CHECK(summary.totals.libraries == 1);
  CHECK(summary.totals.file == 40);
}

TEST_CASE("summary: two files of one name are two libraries", "[summary]") {
  TraceBuilder build;
  build.extension("alpha._core", "/site/alpha/_core.so", 10);
  build.extension("beta._core", "/site/beta/_core.so", 20);
  const Summary summary = summarize(build.trace, ByteKind::file);
  CHECK(summary.totals.libraries == 2);
  CHECK(packages(summary) == Names{"py:beta._core", "py:alpha._core"});
  CHECK(summary.ids[index(summary.libraries[0].node)] == "_core.so (beta/_core.so)");
}

TEST_CASE("notable: the sentences of the report", "[notable]") {
  TraceBuilder build;
  const NodeId torch = build.extension("torch._C", "/t/_C.so", 30 * mega);
  const NodeId cpu = build.library("/t/libtorch_cpu.so", 400 * mega);
  build.needs(torch, cpu);
  const NodeId umath = build.extension("numpy._core", "/n/_multiarray_umath.so", 10 * mega);
  const NodeId lapack = build.extension("numpy.linalg", "/n/lapack_lite.so", mega);
  const NodeId blas = build.library("/n/libscipy_openblas64_-017048f4.so", 24 * mega);
  const NodeId libc = build.library("/l/libc.so.6", 2 * mega);
  build.needs(umath, blas);
  build.needs(lapack, blas);
  for (const NodeId object : {torch, umath, lapack, blas, cpu}) {
    build.needs(object, libc);
  }
  build.connect(build.root(), build.library("/m/libmymalloc.so.2", 16281), EdgeKind::dlopen);
  const Summary summary = summarize(build.trace, ByteKind::file);
  CHECK(summary.notable ==
        Names{"libscipy_openblas64_-017048f4.so is loaded directly by 2 py: packages "
              "(py:numpy._core, py:numpy.linalg)",
              "py:torch._C owns 92% of the total footprint (430.7 MB)",
              "1 library with no Python origin (15.9 KB)",
              "libtorch_cpu.so alone is 400.0 MB (86% of the total)"});
}

TEST_CASE("notable: what everything needs is not worth a sentence", "[notable]") {
  for (const char* name : {"libc.so.6",
                           "libm.so.6",
                           "libdl.so.2",
                           "libpthread.so.0",
                           "librt.so.1",
                           "libgcc_s.so.1",
                           "ld-linux-x86-64.so.2",
                           "ld-musl-x86_64.so.1",
                           "libgcc_s-0f1a.so.1"}) {
    TraceBuilder build;
    const NodeId lib = build.library(std::string("/l/") + name, 1);
    build.needs(build.extension("a", "/d/a.so", 1), lib);
    build.needs(build.extension("b", "/d/b.so", 1), lib);
    const bool told = !summarize(build.trace, ByteKind::file).notable.empty() &&
                      summarize(build.trace, ByteKind::file).notable[0].find("loaded directly") !=
                          std::string::npos;
    CHECK(told == (std::string(name) == "libgcc_s-0f1a.so.1"));
  }
}

TEST_CASE("notable: directly means from one's own extension module", "[notable]") {
  TraceBuilder build;
  const NodeId a = build.extension("a", "/d/a.so"), b = build.extension("b", "/d/b.so");
  const NodeId middle = build.library("/l/libmiddle.so"), deep = build.library("/l/libdeep.so");
  build.needs(a, middle);
  build.needs(b, deep);
  build.needs(middle, deep);
  CHECK(summarize(build.trace, ByteKind::file).notable.empty());
  build.connect(build.python("c"), deep, EdgeKind::dlopen);
  CHECK(summarize(build.trace, ByteKind::file).notable ==
        Names{"libdeep.so is loaded directly by 2 py: packages (py:b, py:c)"});
}

TEST_CASE("notable: of shared libraries the one with most packages is told", "[notable]") {
  TraceBuilder build;
  const NodeId two = build.library("/l/libtwo.so", 9), many = build.library("/l/libmany.so", 1);
  for (int i = 0; i < 9; ++i) {
    const std::string name = "m" + std::to_string(i);
    const NodeId ext = build.extension(name, "/d/" + name + ".so");
    build.needs(ext, many);
    if (i < 2) {
      build.needs(ext, two);
      build.needs(build.library("/l/libneeder" + name + ".so"), two);
    }
  }
  CHECK(summarize(build.trace, ByteKind::file).notable[0] ==
        "libmany.so is loaded directly by 9 py: packages "
        "(py:m0, py:m1, py:m2, py:m3, py:m4, py:m5, ...)");
}

TEST_CASE("notable: the limits are 30 % of a package and 20 % of a library", "[notable]") {
  TraceBuilder build;
  for (int i = 0; i < 10; ++i) {
    const std::string name = "m" + std::to_string(i);
    build.extension(name, "/d/" + name + ".so", 9);
  }
  CHECK(summarize(build.trace, ByteKind::file).notable.empty());
  TraceBuilder limit;
  const NodeId exe = limit.executable("/usr/bin/x"), ext = limit.extension("m", "/d/m.so", 10);
  limit.needs(ext, limit.library("/d/liba.so", 20));
  for (int i = 0; i < 7; ++i) {
    limit.needs(exe, limit.library("/d/libb" + std::to_string(i) + ".so", 10));
  }
  CHECK(summarize(limit.trace, ByteKind::file).notable ==
        Names{"py:m owns 30% of the total footprint (30 B)",
              "liba.so alone is 20 B (20% of the total)"});
}

TEST_CASE("notable: a program without Python is not told that it has none", "[notable]") {
  TraceBuilder build;
  build.executable("/usr/bin/x");
  build.connect(build.root(), build.library("/l/plugin.so", 1), EdgeKind::dlopen);
  const Summary summary = summarize(build.trace, ByteKind::file);
  CHECK(summary.orphans.size() == 1);
  CHECK(summary.notable == Names{"plugin.so alone is 1 B (100% of the total)"});
}

TEST_CASE("notable: bytes that were not measured make no sentence", "[notable]") {
  TraceBuilder build;
  build.extension("m", "/d/m.so", 10);
  CHECK(summarize(build.trace, ByteKind::resident).notable.empty());
  CHECK(summarize(build.trace, ByteKind::file).notable.size() == 2);
}

TEST_CASE("notable: findings come first, the worst and the heaviest on top", "[notable]") {
  TraceBuilder build;
  const NodeId heavy = build.extension("m", "/d/m.so", 10);
  const auto find = [&](Finding::Severity severity, std::string title, std::vector<NodeId> nodes) {
    Finding finding;
    finding.severity = severity;
    finding.title = std::move(title);
    finding.nodes = std::move(nodes);
    build.trace.findings.push_back(std::move(finding));
  };
  find(Finding::Severity::note, "note", {});
  find(Finding::Severity::warning, "light warning", {build.root(), NodeId{99999}});
  find(Finding::Severity::warning, "heavy warning", {heavy});
  Summary summary = summarize(build.trace, ByteKind::file);
  CHECK(summary.notable == Names{"heavy warning",
                                 "light warning",
                                 "note",
                                 "py:m owns 100% of the total footprint (10 B)"});
  CHECK(summary.more_findings == 0);
  find(Finding::Severity::error, "error", {});
  find(Finding::Severity::error, "other error", {});
  summary = summarize(build.trace, ByteKind::file);
  CHECK(summary.notable == Names{"error", "other error", "heavy warning", "light warning"});
  CHECK(summary.more_findings == 1);
}

TEST_CASE("cycles: one edge closes each, and an object that needs itself is one", "[summary]") {
  TraceBuilder build;
  // The cycle is made before the program that leads into it: the walk begins at the top all the
  // same.
  const NodeId b = build.library("/l/libb.so"), a = build.library("/l/liba.so");
  const EdgeId back = build.needs(b, a), forth = build.needs(a, b), self = build.needs(b, b);
  const EdgeId loaded = build.connect(b, a, EdgeKind::dlopen);
  const NodeId exe = build.executable("/usr/bin/x");
  const EdgeId down = build.needs(exe, a);
  const Summary summary = summarize(build.trace, ByteKind::file);
  CHECK(summary.cycle[index(back)]);
  CHECK_FALSE(summary.cycle[index(forth)]);
  CHECK(summary.cycle[index(self)]);
  CHECK_FALSE(summary.cycle[index(loaded)]);
  CHECK_FALSE(summary.cycle[index(down)]);
}

TEST_CASE("cycles: a ring that nothing leads into and a diamond", "[summary]") {
  TraceBuilder build;
  const NodeId a = build.library("/l/liba.so"), b = build.library("/l/libb.so");
  const NodeId c = build.library("/l/libc1.so"), d = build.library("/l/libd.so");
  build.needs(a, b);
  build.needs(a, c);
  build.needs(b, d);
  build.needs(c, d);
  const auto is_closed = [&] {
    const std::vector<bool> cycle = summarize(build.trace, ByteKind::file).cycle;
    return std::count(cycle.begin(), cycle.end(), true);
  };
  CHECK(is_closed() == 0);
  build.needs(d, a);
  CHECK(is_closed() == 1);
}
