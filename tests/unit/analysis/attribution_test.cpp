#include "analysis/attribution.hpp"

#include "tracso/analysis.hpp"

#include "support/build_trace.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <variant>
#include <vector>

using namespace tracso;
using tracso::test::make_edge;
using tracso::test::TraceBuilder;

namespace {

std::vector<std::string> owners_of(const TraceBuilder& build, NodeId node) {
  std::vector<std::string> names;
  const auto owners = attribute(build.trace.graph);
  for (const NodeId source : owners[index(node)]) {
    names.push_back(display_name(build.trace.graph[source]));
  }
  return names;
}

using Names = std::vector<std::string>;

/// The slow honest twin: one walk per source.
std::set<NodeId> reached(const Graph& graph, NodeId source) {
  std::set<NodeId> seen;
  std::vector<NodeId> open;
  const auto visit = [&](NodeId node) {
    const ObjectFile* file = object(graph[node]);
    if (file != nullptr && file->role != ObjectFile::Role::executable && seen.insert(node).second) {
      open.push_back(node);
    }
  };
  for (const EdgeId edge : graph.effects_of(source)) {
    visit(graph[edge].to);
  }
  while (!open.empty()) {
    const NodeId node = open.back();
    open.pop_back();
    for (const EdgeId edge : graph.effects_of(node)) {
      if (graph[edge].kind != EdgeKind::interpreter && graph[edge].kind != EdgeKind::origin) {
        visit(graph[edge].to);
      }
    }
  }
  return seen;
}

/// What a random process is made of, so that it can be made again in another order.
struct Plan {
  struct Library {
    std::string path;
    std::uint64_t bytes = 0;
  };

  std::vector<Library> libraries;
  std::vector<std::string> modules;
  std::vector<std::pair<std::size_t, std::size_t>> needs, origins;  // library, module -> library
};

Plan random_plan(unsigned seed, std::size_t libraries, std::size_t modules, std::size_t edges) {
  std::mt19937 random(seed);
  const auto below = [&](std::size_t limit) { return random() % limit; };
  Plan plan;
  for (std::size_t i = 0; i < libraries; ++i) {
    plan.libraries.push_back({"/lib/libl" + std::to_string(i) + ".so", below(100000)});
  }
  for (std::size_t i = 0; i < modules; ++i) {
    plan.modules.push_back("module" + std::to_string(i));
    plan.origins.emplace_back(i, below(libraries));
  }
  for (std::size_t i = 0; i < edges; ++i) {
    plan.needs.emplace_back(below(libraries), below(libraries));
  }
  return plan;
}

std::vector<std::size_t> order_of(std::size_t count, unsigned seed) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (seed != 0) {
    std::shuffle(order.begin(), order.end(), std::mt19937(seed));
  }
  return order;
}

/// Seed 0: as planned; else nodes and edges in another order.
Trace make(const Plan& plan, unsigned seed) {
  TraceBuilder build;
  const NodeId exe = build.executable("/usr/bin/python3");
  std::vector<NodeId> libraries(plan.libraries.size()), modules(plan.modules.size());
  const std::vector<std::size_t> nodes = order_of(libraries.size() + modules.size(), seed);
  for (const std::size_t i : nodes) {
    if (i < libraries.size()) {
      libraries[i] = build.library(plan.libraries[i].path, plan.libraries[i].bytes);
    } else {
      modules[i - libraries.size()] = build.python(plan.modules[i - libraries.size()]);
    }
  }
  for (const std::size_t i : order_of(plan.needs.size(), seed)) {
    build.needs(libraries[plan.needs[i].first], libraries[plan.needs[i].second]);
  }
  for (const std::size_t i : order_of(plan.origins.size(), seed)) {
    build.connect(
        modules[plan.origins[i].first], libraries[plan.origins[i].second], EdgeKind::origin);
  }
  build.needs(exe, libraries.front());
  return build.trace;
}

}  // namespace

TEST_CASE("attribution: a library belongs to every source that reaches it", "[attribution]") {
  TraceBuilder build;
  const NodeId exe = build.executable("/usr/bin/python3");
  const NodeId ssl = build.extension("_ssl", "/d/_ssl.so");
  const NodeId hashlib = build.extension("_hashlib", "/d/_hashlib.so");
  const NodeId libssl = build.library("/l/libssl.so.3"),
               crypto = build.library("/l/libcrypto.so.3");
  const NodeId libm = build.library("/l/libm.so.6");
  build.needs(ssl, libssl);
  build.needs(libssl, crypto);
  build.needs(hashlib, crypto);
  build.needs(exe, libm);
  CHECK(owners_of(build, ssl) == Names{"py:_ssl"});
  CHECK(owners_of(build, libssl) == Names{"py:_ssl"});
  CHECK(owners_of(build, crypto) == Names{"py:_hashlib", "py:_ssl"});
  CHECK(owners_of(build, libm).empty());
  CHECK(owners_of(build, exe).empty());
  CHECK(owners_of(build, build.root()).empty());
}

TEST_CASE("attribution: the walk follows what an object brings in and nothing else",
          "[attribution]") {
  TraceBuilder build;
  const NodeId ext = build.extension("m", "/d/m.so"), lib = build.library("/l/liba.so");
  const auto owned_by_way_of = [&](EdgeKind kind) {
    TraceBuilder copy = build;
    copy.connect(ext, lib, kind);
    return !owners_of(copy, lib).empty();
  };
  for (const EdgeKind kind : {EdgeKind::needed,
                              EdgeKind::filter,
                              EdgeKind::auxiliary,
                              EdgeKind::dlopen,
                              EdgeKind::preload,
                              EdgeKind::audit}) {
    CHECK(owned_by_way_of(kind));
  }
  CHECK_FALSE(owned_by_way_of(EdgeKind::interpreter));
  CHECK_FALSE(owned_by_way_of(EdgeKind::origin));
}

TEST_CASE("attribution: a root is no source and a program no way", "[attribution]") {
  TraceBuilder build;
  const NodeId exe = build.executable("/usr/bin/python3");
  const NodeId ext = build.extension("m", "/d/m.so"), lib = build.library("/l/liba.so");
  const NodeId plugin = build.library("/l/plugin.so");
  build.needs(exe, lib);
  build.needs(ext, exe);  // position independent programs with a soname exist
  build.connect(build.root(), plugin, EdgeKind::dlopen);
  CHECK(owners_of(build, lib).empty());
  CHECK(owners_of(build, plugin).empty());
  CHECK(owners_of(build, exe).empty());
}

TEST_CASE("attribution: LD_PRELOAD and a module that opens by ctypes are owners", "[attribution]") {
  TraceBuilder build;
  const NodeId env = build.environment("env:LD_PRELOAD", "liba.so"), py = build.python("ctypes");
  const NodeId a = build.library("/l/liba.so"), b = build.library("/l/libb.so");
  build.connect(env, a, EdgeKind::preload);
  build.connect(py, b, EdgeKind::dlopen);
  build.needs(a, b);
  CHECK(owners_of(build, a) == Names{"env:LD_PRELOAD"});
  CHECK(owners_of(build, b) == Names{"env:LD_PRELOAD", "py:ctypes"});
}

TEST_CASE("attribution: cycles and an object that needs itself come to an end", "[attribution]") {
  TraceBuilder build;
  const NodeId ext = build.extension("m", "/d/m.so");
  const NodeId a = build.library("/l/liba.so"), b = build.library("/l/libb.so");
  build.needs(ext, a);
  build.needs(a, b);
  build.needs(b, a);
  build.needs(a, a);
  CHECK(owners_of(build, a) == Names{"py:m"});
  CHECK(owners_of(build, b) == Names{"py:m"});
}

TEST_CASE("attribution: parts are integers, the remainder goes to the first", "[attribution]") {
  CHECK(share_of(std::uint64_t{10}, 3, 0) == 4);
  CHECK(share_of(std::uint64_t{10}, 3, 1) == 3);
  CHECK(share_of(std::uint64_t{10}, 3, 2) == 3);
  CHECK(share_of(std::uint64_t{1}, 64, 63) == 0);
  const Cost cost =
      share_of(Cost{.file = 7, .resident = {}, .private_bytes = 4, .relocations = {}}, 2, 0);
  CHECK(cost.file == 4);
  CHECK_FALSE(cost.resident);
  CHECK(cost.private_bytes == 2);
}

TEST_CASE("attribution: agrees with one walk per source on random graphs", "[attribution]") {
  for (unsigned seed = 1; seed <= 30; ++seed) {
    const Trace trace = make(random_plan(seed, 40 + seed, 150, 30 + 3 * seed), 0);
    const auto owners = attribute(trace.graph);
    std::vector<std::vector<NodeId>> expected(trace.graph.nodes().size());
    for (const NodeId source : sources_by_name(trace.graph)) {
      for (const NodeId node : reached(trace.graph, source)) {
        expected[index(node)].push_back(source);
      }
    }
    REQUIRE(owners == expected);
  }
}

TEST_CASE("attribution: shares sum to the bytes and do not depend on the order", "[attribution]") {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const Plan plan = random_plan(seed, 60, 90, 80);
    const Summary summary = summarize(make(plan, 0), ByteKind::file);
    std::uint64_t sum = 0;
    double shares = 0;
    for (const Package& package : summary.packages) {
      sum += package.file;
      shares += package.share;
    }
    CHECK(sum == summary.totals.file);
    CHECK(shares == Approx(1.0));
    const Summary other = summarize(make(plan, seed + 100), ByteKind::file);
    REQUIRE(other.packages.size() == summary.packages.size());
    for (std::size_t i = 0; i < other.packages.size(); ++i) {
      CHECK(other.packages[i].name == summary.packages[i].name);
      CHECK(other.packages[i].file == summary.packages[i].file);
      CHECK(other.packages[i].libraries == summary.packages[i].libraries);
    }
  }
}

TEST_CASE("attribution: three thousand nodes and thirty thousand edges are no work",
          "[attribution]") {
  const Trace trace = make(random_plan(7, 3000, 1000, 30000), 0);
  const auto owners = attribute(trace.graph);
  CHECK(std::count_if(
            owners.begin(), owners.end(), [](const auto& of) { return of.size() > 900; }) > 1000);
}

TEST_CASE("attribution: a chain of thirty thousand objects is walked without recursion",
          "[attribution]") {
  TraceBuilder build;
  NodeId last = build.extension("m", "/d/m.so");
  for (int i = 0; i < 30000; ++i) {
    const NodeId next = build.library("/l/lib" + std::to_string(i) + ".so", 1);
    build.needs(last, next);
    last = next;
  }
  const Summary summary = summarize(build.trace, ByteKind::file);
  REQUIRE(summary.packages.size() == 1);
  CHECK(summary.packages[0].libraries == 30001);
  CHECK(summary.packages[0].file == 30000);
}

TEST_CASE("attribution: pairs are bounded, the sources last by name are left out",
          "[attribution]") {
  TraceBuilder build;
  const NodeId lib = build.library("/l/liba.so");
  for (int i = 200; i-- > 0;) {
    build.connect(build.python("m" + std::to_string(1000 + i)), lib, EdgeKind::origin);
  }
  CHECK(attribute(build.trace.graph)[index(lib)].size() == 200);
  const auto owners = attribute(build.trace.graph, 100);
  REQUIRE(owners[index(lib)].size() == 128);
  CHECK(display_name(build.trace.graph[owners[index(lib)].back()]) == "py:m1127");
}

TEST_CASE("attribution: how many sources were left out is told", "[attribution]") {
  TraceBuilder build;
  const NodeId lib = build.library("libx.so");
  for (int i = 0; i < 200; ++i) {
    build.connect(build.python("m" + std::to_string(1000 + i)), lib, EdgeKind::origin);
  }
  std::size_t left_out = 7;
  attribute(build.trace.graph, most_owned, &left_out);
  CHECK(left_out == 0);
  attribute(build.trace.graph, 100, &left_out);
  CHECK(left_out == 72);
  CHECK(summarize(build.trace, ByteKind::file).notices.empty());
}
