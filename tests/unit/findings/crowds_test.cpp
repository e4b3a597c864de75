// Rules about what came later or is too much: variables, relative names, threads, arenas, symbols.

#include "support/catch.hpp"
#include "support/finding_case.hpp"

using namespace tracso;
using Severity = Finding::Severity;
using Case = test::FindingCase;
using test::place;
using test::says;

TEST_CASE("findings: a variable that came after the start", "[findings]") {
  Case one;
  CHECK_FALSE(one.raised("preload-late"));
  one.facts.changed_variables = {{"LD_PRELOAD", std::nullopt, "/x.so"}};
  const auto finding = one.raised("preload-late");
  REQUIRE(finding);
  CHECK(finding->severity == Severity::note);
  CHECK(finding->title.find("LD_PRELOAD was set after the start") != std::string::npos);
  CHECK(says(*finding, "at the start: not set"));
  CHECK(says(*finding, "now: /x.so"));
  one.facts.changed_variables = {{"LD_PRELOAD", "/x.so", std::nullopt}};
  CHECK(one.raised("preload-late")->title.find("taken out") != std::string::npos);
}

TEST_CASE("findings: a library opened by a relative name", "[findings]") {
  Case one;
  const NodeId node = one.library("/srv/app/libx.so", "aa");
  CHECK_FALSE(one.raised("path-cwd"));
  one.facts.relative_names = {{node, "./libx.so"}};
  const auto finding = one.raised("path-cwd");
  REQUIRE(finding);
  CHECK(finding->severity == Severity::note);
  CHECK(finding->nodes == std::vector<NodeId>{node});
  CHECK(says(*finding, "opened as ./libx.so"));
}

TEST_CASE("findings: threads of maths runtimes against processors", "[findings]") {
  Case one;
  const NodeId gomp = one.library("/lib/libgomp.so.1", "aa");
  const NodeId blas = one.library("/site/libscipy_openblas64_-1a2b3c4d.so", "bb");
  const NodeId server = one.library("/lib/libserver.so", "cc");
  one.facts.processors = 4;
  one.facts.pools = {{gomp, 4, 4}, {blas, 4, 4}, {server, 100, 100}};
  CHECK_FALSE(one.raised("threads-over"));  // 8 are twice as many, not more
  one.facts.pools[0].threads = 5;
  const auto finding = one.raised("threads-over");
  REQUIRE(finding);
  CHECK(finding->severity == Severity::warning);
  CHECK(finding->confidence == "inferred");
  CHECK(finding->nodes == std::vector<NodeId>{gomp, blas});
  CHECK(finding->title == "9 threads of maths runtimes for 4 processors");
  CHECK(says(*finding, "5 threads of libgomp.so.1"));
  one.facts.pools[0].idle = 5;
  CHECK(one.raised("threads-over")->title.find("idle now") != std::string::npos);
  one.facts.processors.reset();
  CHECK_FALSE(one.raised("threads-over"));
}

TEST_CASE("findings: memory in the arenas of malloc", "[findings]") {
  Case one;
  one.facts.processors = 2;
  one.facts.arenas = MallocArenas{5, 41, 100};
  const auto finding = one.raised("arena-heavy");
  REQUIRE(finding);
  CHECK(finding->severity == Severity::note);
  SECTION("not much of it") {
    one.facts.arenas->resident = 40;
    CHECK_FALSE(one.raised("arena-heavy"));
  }
  SECTION("few arenas") {
    one.facts.arenas->count = 4;
    CHECK_FALSE(one.raised("arena-heavy"));
  }
  SECTION("another allocator lays its memory out otherwise") {
    one.library("/lib/libjemalloc.so.2", "aa");
    CHECK_FALSE(one.raised("arena-heavy"));
  }
}

TEST_CASE("findings: a symbol that nothing defines", "[findings]") {
  Case one;
  const NodeId plain = one.library("/opt/libx.so.1", "aa");
  CHECK_FALSE(one.raised("undefined-symbol"));
  one.facts.undefined = {{plain, "gone", ""}, {plain, "other", "V1"}};
  SECTION("of a file") {
    one.build.trace.process.reset();
    const auto finding = one.raised("undefined-symbol");
    REQUIRE(finding);
    CHECK(finding->severity == Severity::warning);
    CHECK(finding->title ==
          "libx.so.1 wants gone, other@V1, which nothing it would be loaded with defines");
  }
  SECTION("of a process") {
    const auto finding = one.raised("undefined-symbol");
    REQUIRE(finding);
    CHECK(finding->severity == Severity::note);
    CHECK(says(*finding, "not called so far"));
  }
  SECTION("of a plug-in, whose host is not known") {
    Case other;
    other.build.trace.process.reset();
    const NodeId plugin = other.library("/opt/mod_x.so", "aa");
    other.build.trace.interpreter = "/opt/mod_x.so";
    other.facts.undefined = {{plugin, "ap_hook", ""}};
    const auto finding = other.raised("undefined-symbol");
    REQUIRE(finding);
    CHECK(finding->severity == Severity::note);
    CHECK(says(*finding, "may bring them"));
  }
}

TEST_CASE("findings: a place is graver where another file would win", "[findings]") {
  Case one;
  constexpr std::uint32_t directory = 040000;
  const NodeId user = one.library("/opt/libuser.so", "aa");
  const NodeId wanted = one.library("/opt/libx.so", "bb");
  one.facts.places = {place(Place::What::search_path, "/srv/open", user, directory | 01777)};
  Edge edge = edge_between(user, wanted, EdgeKind::needed);
  edge.needed = "libx.so";
  SearchStep before{Rule::runpath, "RUNPATH", "/srv/open", SearchStep::Outcome::absent, "", ""};
  SearchStep won{Rule::runpath, "RUNPATH", "/opt", SearchStep::Outcome::found, "/opt/libx.so", ""};
  SECTION("it is searched before") {
    edge.search = {before, won};
    one.build.trace.graph.connect(edge);
    const auto finding = one.raised("path-writable");
    REQUIRE(finding);
    CHECK(finding->severity == Severity::error);
    CHECK(says(*finding, "comes before where libx.so is found"));
  }
  SECTION("it is searched after, or not at all") {
    edge.search = {won, before};
    one.build.trace.graph.connect(edge);
    CHECK(one.raised("path-writable")->severity == Severity::warning);
  }
  SECTION("somebody else's, and the process is root's") {
    one.facts.user = 0;
    one.facts.places[0].mode = directory | 0755;
    one.facts.places[0].owner = 1000;
    CHECK(one.raised("path-writable")->severity == Severity::error);
    one.facts.user = 1001;
    CHECK(one.raised("path-writable")->severity == Severity::warning);
  }
}
