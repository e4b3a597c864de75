#include "tracso/analysis.hpp"

#include "analysis/chains.hpp"
#include "support/build_trace.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

using namespace tracso;
using tracso::test::make_edge;
using tracso::test::TraceBuilder;

namespace {

using Names = std::vector<std::string>;

WhyAnswer why(const Trace& trace, std::string_view query, std::size_t depth = 8) {
  return explain_why(trace, summarize(trace, ByteKind::file), query, depth);
}

Names matched(const Trace& trace, std::string_view query) {
  Names names;
  for (const WhyMatch& match : why(trace, query).matches) {
    names.push_back(display_name(trace.graph[match.node]));
  }
  return names;
}

/// "py:m > m.so > liba.so"
std::string text(const Graph& graph, const std::vector<EdgeId>& chain) {
  std::string result = display_name(graph[graph[chain.front()].from]);
  for (const EdgeId id : chain) {
    result += " > " + display_name(graph[graph[id].to]);
  }
  return result;
}

Names chains(const Trace& trace, const WhyMatch& match) {
  Names result;
  for (const auto& chain : match.chains) {
    result.push_back(text(trace.graph, chain));
  }
  return result;
}

SearchStep step(SearchStep::Outcome outcome, std::string setting, std::string path) {
  SearchStep made;
  made.outcome = outcome;
  made.setting = std::move(setting);
  made.path = std::move(path);
  return made;
}

/// The slow honest twin: all simple chains by depth first, for small graphs.
void all_chains(const Graph& graph,
                NodeId node,
                std::size_t depth,
                std::vector<EdgeId>& chain,
                std::set<std::vector<EdgeId>>& found) {
  for (const EdgeId id : graph.causes_of(node)) {
    const NodeId from = graph[id].from;
    const bool seen = std::any_of(
        chain.begin(), chain.end(), [&](EdgeId link) { return graph[link].to == from; });
    if (seen || from == node || chain.size() == depth) {
      continue;
    }
    chain.push_back(id);
    if (object(graph[from]) == nullptr) {
      found.insert(std::vector(chain.rbegin(), chain.rend()));
    } else {
      all_chains(graph, from, depth, chain, found);
    }
    chain.pop_back();
  }
}

}  // namespace

TEST_CASE("why: every chain from a source or root, the shortest first", "[why]") {
  TraceBuilder build;
  const NodeId exe = build.executable("/usr/bin/python3");
  const NodeId ext = build.extension("_ssl", "/d/_ssl.cpython-311-x86_64-linux-gnu.so");
  const NodeId ssl = build.library("/l/libssl.so.3"), crypto = build.library("/l/libcrypto.so.3");
  build.needs(ext, ssl);
  build.needs(ssl, crypto);
  build.needs(exe, crypto);
  build.needs(ext, crypto);
  const WhyAnswer answer = why(build.trace, "libcrypto.so.3");
  REQUIRE(answer.matches.size() == 1);
  CHECK(answer.query == "libcrypto.so.3");
  CHECK(answer.matches[0].winner == "/l/libcrypto.so.3");
  CHECK_FALSE(answer.matches[0].chains_cut);
  CHECK(answer.did_you_mean.empty());
  CHECK(chains(build.trace, answer.matches[0]) ==
        Names{"pid:4192 > python3 > libcrypto.so.3",
              "py:_ssl > _ssl.so > libcrypto.so.3",
              "py:_ssl > _ssl.so > libssl.so.3 > libcrypto.so.3"});
}

TEST_CASE("why: of equally long chains that of the first causes leads", "[why]") {
  TraceBuilder build;
  const NodeId a = build.extension("a", "/d/a.so"), b = build.extension("b", "/d/b.so");
  const NodeId lib = build.library("/l/libx.so");
  build.needs(a, lib);
  build.edge(build.needs(b, lib)).first = true;
  CHECK(chains(build.trace, why(build.trace, "libx.so").matches[0]) ==
        Names{"py:b > b.so > libx.so", "py:a > a.so > libx.so"});
}

TEST_CASE("why: preload, dlopen and interpreter are ways too, and an orphan has none", "[why]") {
  TraceBuilder build;
  build.executable("/usr/bin/x");
  const NodeId loader = build.loader("/lib/ld-linux-x86-64.so.2");
  const NodeId lib = build.library("/l/libpre.so");
  build.library("/l/liborphan.so");
  build.connect(build.environment("env:LD_PRELOAD", "x"), lib, EdgeKind::preload);
  build.connect(build.root(), lib, EdgeKind::dlopen);
  build.needs(loader, loader);
  const auto of = [&](std::string_view name) {
    return chains(build.trace, why(build.trace, name).matches.at(0));
  };
  CHECK(of("ld-linux") == Names{"pid:4192 > x > ld-linux-x86-64.so.2"});
  CHECK(of("libpre.so") == Names{"env:LD_PRELOAD > libpre.so", "pid:4192 > libpre.so"});
  CHECK(of("liborphan.so").empty());
  CHECK(of("x") == Names{"pid:4192 > x"});
}

TEST_CASE("why: a query is a path, a name or the beginning of one", "[why]") {
  TraceBuilder build;
  build.executable("/usr/bin/python3.11");
  const NodeId z = build.library("/usr/lib/libz.so.1.2.13");
  build.file(z).elf.dynamic.soname = "libz.so.1";
  build.library("/usr/lib/libc.so.6");
  build.library("/usr/lib/libcrypto.so.3");
  build.extension("alpha._core", "/site/alpha/_core.cpython-311-x86_64-linux-gnu.so");
  build.extension("beta._core", "/site/beta/_core.abi3.so");
  build.missing("libgone.so.5");
  build.vdso();
  const Trace& trace = build.trace;
  CHECK(matched(trace, "/usr/lib/libz.so.1.2.13") == Names{"libz.so.1"});
  CHECK(matched(trace, "/lib/libz.so.1.2.13") == Names{"libz.so.1"});  // /lib -> usr/lib
  CHECK(matched(trace, "libz.so.1.2.13") == Names{"libz.so.1"});
  CHECK(matched(trace, "libz.so.1") == Names{"libz.so.1"});
  CHECK(matched(trace, "libz.so") == Names{"libz.so.1"});
  CHECK(matched(trace, "libz") == Names{"libz.so.1"});
  CHECK(matched(trace, "libc") == Names{"libc.so.6", "libcrypto.so.3"});
  CHECK(matched(trace, "_core.so") == Names{"_core.so", "_core.so"});
  CHECK(matched(trace, "_core.so (alpha/_core.so)") == Names{"_core.so"});
  CHECK(matched(trace, "beta/_core.abi3.so") == Names{"_core.so"});
  CHECK(matched(trace, "libgone") == Names{"libgone.so.5"});
  CHECK(matched(trace, "linux-vdso") == Names{"linux-vdso.so.1"});
  CHECK(matched(trace, "python3.11") == Names{"python3.11"});
  CHECK(matched(trace, "").empty());
  CHECK(matched(trace, "ibz").empty());
  CHECK(matched(trace, "/").empty());
}

TEST_CASE("why: the path by which the loader opened it names it too", "[why]") {
  TraceBuilder build;
  const NodeId exe = build.executable("/usr/bin/x"), lib = build.library("/opt/v2/libz.so.1");
  build.edge(build.needs(exe, lib)).search = {
      step(SearchStep::Outcome::lost, "", "/other/libz.so.1"),
      step(SearchStep::Outcome::found, "RUNPATH", "/opt/current/libz.so.1")};
  CHECK(matched(build.trace, "/opt/current/libz.so.1") == Names{"libz.so.1"});
  CHECK(matched(build.trace, "/other/libz.so.1").empty());
}

TEST_CASE("why: who mistypes a name is told the near ones", "[why]") {
  TraceBuilder build;
  build.library("/l/libssl.so.3");
  build.library("/l/libz.so.1");
  build.missing("libcurl.so.4");
  CHECK(why(build.trace, "libsl").did_you_mean == Names{"libssl.so.3", "libz.so.1"});
  CHECK(why(build.trace, "libssl.so.1.1").did_you_mean == Names{"libssl.so.3"});
  CHECK(why(build.trace, "curl").did_you_mean == Names{"libcurl.so.4"});
  CHECK(why(build.trace, "/nowhere/libssl.so.3").did_you_mean == Names{"libssl.so.3"});
  CHECK(why(build.trace, "completely-different").did_you_mean.empty());
  CHECK(why(build.trace, "libsl").matches.empty());
}

TEST_CASE("why: losers come from the search of the first cause", "[why]") {
  TraceBuilder build;
  const NodeId exe = build.executable("/usr/bin/x"), ext = build.extension("m", "/d/m.so");
  const NodeId lib = build.library("/a/libz.so.1");
  build.edge(build.needs(ext, lib)).search = {
      step(SearchStep::Outcome::lost, "elsewhere", "/q/libz.so.1")};
  Edge& first = build.edge(build.needs(exe, lib));
  first.first = true;
  first.restart_would_load = "/new/libz.so.1";
  first.search = {step(SearchStep::Outcome::absent, "RPATH", ""),
                  step(SearchStep::Outcome::wrong_class, "LD_LIBRARY_PATH entry 1", "/b/libz.so.1"),
                  step(SearchStep::Outcome::found, "RUNPATH of /usr/bin/x", "/a/libz.so.1"),
                  step(SearchStep::Outcome::lost, "ld.so.cache", "/c/libz.so.1"),
                  step(SearchStep::Outcome::lost, "default", "/c/libz.so.1"),
                  step(SearchStep::Outcome::lost, "default", "/a/libz.so.1")};
  first.search[1].note = "32-bit";
  const WhyMatch match = why(build.trace, "libz.so.1").matches.at(0);
  REQUIRE(match.losers.size() == 2);
  CHECK(match.losers[0].path == "/b/libz.so.1");
  CHECK(match.losers[0].place == "LD_LIBRARY_PATH entry 1");
  CHECK(match.losers[0].reason == "32-bit");
  CHECK(match.losers[1].path == "/c/libz.so.1");
  CHECK(match.losers[1].place == "ld.so.cache");
  CHECK(match.losers[1].reason == "an earlier place won");
  CHECK(match.restart_would_load == "/new/libz.so.1");
}

TEST_CASE("why: a missing one has no winner, and every file that was refused", "[why]") {
  TraceBuilder build("x", 0);
  const NodeId exe = build.executable("/usr/bin/x"), gone = build.missing("libgone.so");
  build.edge(build.needs(exe, gone)).search = {
      step(SearchStep::Outcome::denied, "RUNPATH", "/secret/libgone.so")};
  const WhyMatch match = why(build.trace, "libgone.so").matches.at(0);
  CHECK(match.winner.empty());
  REQUIRE(match.losers.size() == 1);
  CHECK(match.losers[0].reason == "not readable");
  CHECK_FALSE(match.restart_would_load);
  CHECK(chains(build.trace, match) == Names{"x > x > libgone.so"});
}

TEST_CASE("why: chains longer than the depth are left out and that is said", "[why]") {
  TraceBuilder build;
  NodeId last = build.extension("m", "/d/m.so");
  for (const char* name : {"/l/liba.so", "/l/libb.so", "/l/libc1.so"}) {
    const NodeId next = build.library(name);
    build.needs(last, next);
    last = next;
  }
  const auto match = [&](std::size_t depth) {
    return why(build.trace, "libc1.so", depth).matches[0];
  };
  CHECK_FALSE(match(4).chains_cut);
  CHECK_FALSE(match(0).chains_cut);
  CHECK(chains(build.trace, match(0)) == Names{"py:m > m.so > liba.so > libb.so > libc1.so"});
  // Nothing fits: the end of the shortest one.
  CHECK(match(2).chains_cut);
  CHECK(chains(build.trace, match(2)) == Names{"liba.so > libb.so > libc1.so"});
  build.needs(NodeId{2}, last);
  CHECK(match(2).chains_cut);
  CHECK(chains(build.trace, match(2)) == Names{"py:m > m.so > libc1.so"});
}

TEST_CASE("why: a cycle below the library hides nothing and adds nothing", "[why]") {
  TraceBuilder build;
  const NodeId ext = build.extension("m", "/d/m.so");
  const NodeId a = build.library("/l/liba.so"), b = build.library("/l/libb.so");
  build.needs(ext, a);
  build.needs(a, b);
  build.needs(b, a);
  build.needs(a, a);
  const WhyMatch match = why(build.trace, "liba.so", 2).matches[0];
  CHECK(chains(build.trace, match) == Names{"py:m > m.so > liba.so"});
  CHECK_FALSE(match.chains_cut);
}

TEST_CASE("why: agrees with the slow enumeration on random graphs", "[why]") {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    std::mt19937 random(seed);
    TraceBuilder build;
    std::vector<NodeId> libraries;
    for (int i = 0; i < 8; ++i) {
      libraries.push_back(build.library("/l/lib" + std::to_string(i) + ".so"));
    }
    for (int i = 0; i < 14; ++i) {
      const NodeId from = libraries[random() % 8], to = libraries[random() % 8];
      Edge edge = make_edge(from, to, EdgeKind::needed, display_name(build.trace.graph[to]));
      edge.first = random() % 3 == 0;
      build.trace.graph.connect(edge);
    }
    build.connect(build.root(), libraries[0], EdgeKind::dlopen);
    build.connect(build.python("m"), libraries[random() % 8], EdgeKind::origin);
    const ChainFinder finder(build.trace.graph);
    for (const std::size_t depth : {std::size_t{3}, std::size_t{9}}) {
      for (const NodeId library : libraries) {
        ChainBudget budget;
        const Chains result = finder.find(library, depth, budget);
        std::vector<EdgeId> chain;
        std::set<std::vector<EdgeId>> expected;
        all_chains(build.trace.graph, library, depth, chain, expected);
        if (expected.size() > most_chains) {
          CHECK(result.chains.size() == most_chains);
          CHECK(result.cut);
        } else if (!expected.empty()) {
          CHECK(std::set(result.chains.begin(), result.chains.end()) == expected);
          CHECK(result.chains.size() == expected.size());
        }
        CHECK(std::is_sorted(
            result.chains.begin(), result.chains.end(), [](const auto& one, const auto& other) {
              return one.size() < other.size();
            }));
      }
    }
  }
}

TEST_CASE("why: layers with more chains than can be counted are answered at once", "[why]") {
  TraceBuilder build;
  const NodeId exe = build.executable("/usr/bin/x");
  std::vector<NodeId> above{exe};
  for (int layer = 0; layer < 30; ++layer) {  // 33 libraries each: 33^30 chains, 31713 edges
    std::vector<NodeId> here;
    for (int i = 0; i < 33; ++i) {
      here.push_back(
          build.library("/l/lib" + std::to_string(layer) + "_" + std::to_string(i) + ".so"));
      for (const NodeId from : above) {
        build.needs(from, here.back());
      }
    }
    above = here;
  }
  for (const std::size_t depth : {std::size_t{8}, std::size_t{0}}) {
    const WhyMatch match = why(build.trace, "lib29_7.so", depth).matches.at(0);
    CHECK(match.chains_cut);
    CHECK(match.chains.size() == (depth == 0 ? most_chains : 1));
    CHECK(match.chains.front().size() == (depth == 0 ? 31 : depth));
  }
}

TEST_CASE("why: the chain that caused the load is there, however many are shorter", "[why]") {
  TraceBuilder build;
  const NodeId lib = build.library("/l/libx.so");
  for (int i = 0; i < 200; ++i) {
    const std::string name = "m" + std::to_string(i);
    build.needs(build.extension(name, "/d/" + name + ".so"), lib);
  }
  const NodeId middle = build.library("/l/libmiddle.so"), ext = build.extension("z", "/d/z.so");
  build.edge(build.connect(build.python("z"), ext, EdgeKind::origin)).first = true;
  build.edge(build.needs(ext, middle)).first = true;
  build.edge(build.needs(middle, lib)).first = true;
  const WhyMatch match = why(build.trace, "libx.so").matches.at(0);
  CHECK(match.chains.size() == most_chains);
  CHECK(match.chains_cut);
  CHECK(text(build.trace.graph, match.chains.back()) == "py:z > z.so > libmiddle.so > libx.so");
}

TEST_CASE("why: first causes that go round in a circle lead nowhere", "[why]") {
  TraceBuilder build;
  const NodeId a = build.library("/l/liba.so"), b = build.library("/l/libb.so");
  build.edge(build.needs(a, b)).first = true;
  build.edge(build.needs(b, a)).first = true;
  CHECK(why(build.trace, "liba.so", 0).matches.at(0).chains.empty());
}

TEST_CASE("why: a used-up budget leaves the causal chain", "[why]") {
  TraceBuilder build;
  const NodeId ext = build.extension("m", "/d/m.so"), lib = build.library("/l/liba.so");
  build.edge(build.needs(ext, lib)).first = true;
  build.trace.graph.mutable_edge(EdgeId{0}).first = true;
  ChainBudget budget{.edges = 0};
  const Chains result = ChainFinder(build.trace.graph).find(lib, 8, budget);
  CHECK(result.cut);
  REQUIRE(result.chains.size() == 1);
  CHECK(text(build.trace.graph, result.chains[0]) == "py:m > m.so > liba.so");
}

TEST_CASE("why: a question that names everything in a hostile document ends", "[why]") {
  TraceBuilder build("x", 0);
  std::mt19937 random(3);
  std::vector<NodeId> libraries;
  for (int i = 0; i < 1000; ++i) {
    libraries.push_back(build.library("/l/lib" + std::to_string(i) + ".so"));
  }
  for (int i = 0; i < 10000; ++i) {
    build.needs(libraries[random() % 1000], libraries[random() % 1000]);
  }
  build.connect(build.root(), libraries[0], EdgeKind::dlopen);
  const WhyAnswer answer = why(build.trace, "lib");
  CHECK(answer.matches.size() == 1000);
  CHECK(std::any_of(answer.matches.begin(), answer.matches.end(), [](const WhyMatch& match) {
    return match.chains.size() > 1;
  }));
}

TEST_CASE("why: however small the depth, the head of the chain is told", "[why]") {
  TraceBuilder build;
  const NodeId own = build.extension("m", "/d/m.so");
  const NodeId middle = build.library("/l/liba.so");
  const NodeId last = build.library("/l/libb.so");
  build.needs(own, middle);
  build.needs(middle, last);
  const auto match = why(build.trace, "libb.so", 1).matches.front();
  CHECK(chains(build.trace, match) == Names{"liba.so > libb.so"});
  REQUIRE(match.cut_from);
  CHECK(display_name(build.trace.graph[*match.cut_from]) == "py:m");
  CHECK(match.steps_cut == 2);
  CHECK_FALSE(why(build.trace, "libb.so", 3).matches.front().cut_from);
}

TEST_CASE("why: each library of a long chain is answered in a few steps, and rightly", "[why]") {
  constexpr std::size_t length = 40'000, depth = 6;
  TraceBuilder build;
  const NodeId exe = build.executable("/usr/bin/x");
  std::vector<NodeId> libraries;
  for (std::size_t i = 0; i < length; ++i) {
    libraries.push_back(build.library("/l/lib" + std::to_string(i) + ".so"));
    build.needs(i == 0 ? exe : libraries[i - 1], libraries[i]);
  }
  const Graph& graph = build.trace.graph;
  const ChainFinder finder(graph);
  ChainBudget budget;
  const std::uint64_t before = budget.edges;
  for (std::size_t i = 0; i < length; ++i) {
    const Chains found = finder.find(libraries[i], depth, budget);
    const std::size_t steps = i + 2;  // root, program, the libraries before it
    const std::size_t shown = std::min(steps, depth);
    const bool right =
        found.chains.size() == 1 && found.chains[0].size() == shown &&
        graph[found.chains[0].back()].to == libraries[i] && found.cut == (steps > depth) &&
        found.cut_from.value_or(build.root()) == build.root() && found.steps_cut == steps - shown;
    if (!right) {
      FAIL_CHECK(i);
      break;
    }
  }
  CHECK(before - budget.edges < length * 100);
}

TEST_CASE("why: each library of a long cycle is answered within the budget", "[why]") {
  TraceBuilder build;
  const NodeId exe = build.executable("/usr/bin/x");
  std::vector<NodeId> libraries;
  for (std::size_t i = 0; i < 1000; ++i) {
    libraries.push_back(build.library("/l/lib" + std::to_string(i) + ".so"));
    build.needs(i == 0 ? exe : libraries[i - 1], libraries[i]);
  }
  build.needs(libraries.back(), libraries.front());
  const ChainFinder finder(build.trace.graph);
  ChainBudget budget;
  for (const NodeId library : {libraries[0], libraries[1], libraries[999]}) {
    const Chains found = finder.find(library, 0, budget);
    CHECK(found.chains.size() == 1);
    CHECK_FALSE(found.cut);
    CHECK(found.chains[0].size() == index(library) - index(libraries[0]) + 2);
  }
}
