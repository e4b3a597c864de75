// Each rule raised once, and once where it must be silent.

#include "tracso/findings.hpp"

#include "findings/families.hpp"
#include "support/build_trace.hpp"
#include "support/catch.hpp"
#include "support/places.hpp"
#include "support/run_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

using namespace tracso;
using Severity = Finding::Severity;
using test::TraceBuilder;

namespace {

const Finding* find(const std::vector<Finding>& findings, std::string_view code) {
  const auto found = std::find_if(findings.begin(), findings.end(), [&](const Finding& finding) {
    return finding.code == code;
  });
  return found == findings.end() ? nullptr : &*found;
}

struct Raised {
  bool there = false;
  Finding finding;
};

Raised raised(const TraceBuilder& build, std::string_view code) {
  const auto findings = find_problems(build.trace);
  const Finding* finding = find(findings, code);
  return finding == nullptr ? Raised{} : Raised{true, *finding};
}

NodeId library(TraceBuilder& build, const std::string& path, const std::string& build_id) {
  const NodeId node = build.library(path, 100);
  build.file(node).elf.build_id = build_id;
  return node;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace

TEST_CASE("findings: the stem of a library is free of hashes, suffixes and versions",
          "[findings]") {
  using findings::stem_of;
  CHECK(stem_of(std::string_view("/x/libfoo-1a2b3c4d.so.1.2.3")) == "libfoo");
  CHECK(stem_of(std::string_view("libgomp-a34b3233.so.1.0.0")) == "libgomp");
  CHECK(stem_of(std::string_view("libpython3.11.so.1.0")) == "libpython");
  CHECK(stem_of(std::string_view("libiomp5.so")) == "libiomp");
  CHECK(stem_of(std::string_view("libQt5Core.so.5")) == "libqt5core");
  CHECK(stem_of(std::string_view("libz.so.1")) == "libz");
  CHECK(stem_of(std::string_view("libx264.so.164")) == "libx264");
  CHECK(stem_of(std::string_view("libpcre2-8.so.0")) == "libpcre2");
  CHECK(stem_of(std::string_view("libssh2.so.1")) == "libssh2");
  CHECK(stem_of(std::string_view("libxml2-1a2b3c4d.so.2.9")) == "libxml2");
  CHECK(stem_of(std::string_view("libhdf5-11111111.so.103")) == "libhdf5");
  CHECK(stem_of(std::string_view("libgfortran-040039e1-0352e75f.so.5.0.0")) == "libgfortran");
  CHECK(stem_of(std::string_view("libboost_system-1.74.so")) == "libboost_system");
  CHECK(stem_of(std::string_view("libscipy_openblas64_-017048f4.so")) == "libscipy_openblas64");
  CHECK(stem_of(std::string_view("libstdc++.so.6")) == "libstdc++");
  CHECK(stem_of(std::string_view("123")) == "123");
  CHECK(stem_of(std::string_view("")).empty());
}

TEST_CASE("findings: two OpenMP runtimes, with who brought them", "[findings]") {
  TraceBuilder build;
  const NodeId a = build.extension("pkga._a", "/site/pkga/_a.so");
  const NodeId gomp = library(build, "/lib/libgomp.so.1", "aa");
  build.needs(a, gomp);
  SECTION("GNU and LLVM") {
    const NodeId b = build.extension("pkgb._b", "/site/pkgb/_b.so");
    build.needs(b, library(build, "/lib/libomp.so.5", "bb"));
    const auto [there, finding] = raised(build, "dup-openmp");
    REQUIRE(there);
    CHECK(finding.severity == Severity::warning);
    CHECK(finding.nodes.size() == 2);
    CHECK(finding.owners == std::vector<std::string>{"py:pkga._a", "py:pkgb._b"});
    CHECK(contains(finding.title, "libgomp.so.1 (GNU) and libomp.so.5 (LLVM)"));
    CHECK_FALSE(finding.what_to_do.empty());
  }
  SECTION("LLVM and Intel stop each other") {
    library(build, "/lib/libomp.so.5", "bb");
    library(build, "/site/libiomp5.so", "cc");
    CHECK(raised(build, "dup-openmp").finding.severity == Severity::error);
  }
  SECTION("one") {
    CHECK_FALSE(raised(build, "dup-openmp").there);
  }
}

TEST_CASE("findings: two builds of OpenSSL are a note until somebody uses both", "[findings]") {
  TraceBuilder build;
  const NodeId three = library(build, "/lib/libcrypto.so.3", "aa");
  const NodeId one = library(build, "/site/pq.libs/libcrypto-1a2b3c4d.so.1.1", "bb");
  CHECK(raised(build, "dup-openssl").finding.severity == Severity::note);
  SECTION("used by one object") {
    const NodeId pq = build.extension("pq._pq", "/site/pq/_pq.so");
    build.needs(pq, three);
    build.needs(pq, one);
    CHECK(raised(build, "dup-openssl").finding.severity == Severity::warning);
  }
  SECTION("the same build twice") {
    build.file(one).elf.build_id = "aa";
    CHECK_FALSE(raised(build, "dup-openssl").there);
    CHECK(raised(build, "dup-identical").there);
  }
}

TEST_CASE("findings: bundled copies of one library", "[findings]") {
  TraceBuilder build;
  library(build, "/site/alpha.libs/libfoo-1a2b3c4d.so.1.2.3", "aa");
  SECTION("three builds") {
    library(build, "/site/beta.libs/libfoo-9f8e7d6c.so.1.3.0", "bb");
    library(build, "/lib/libfoo.so.1", "cc");
    const auto [there, finding] = raised(build, "dup-library");
    REQUIRE(there);
    CHECK(finding.severity == Severity::note);
    CHECK(finding.nodes.size() == 3);
  }
  SECTION("with a global state") {
    library(build, "/a/libhdf5-11111111.so.103", "dd");
    library(build, "/b/libhdf5.so.200", "ee");
    CHECK(raised(build, "dup-library").finding.severity == Severity::warning);
  }
  SECTION("plug-ins of one name are no copies") {
    library(build, "/site/alpha/_core.so", "dd");
    library(build, "/site/beta/_core.so", "ee");
    CHECK_FALSE(raised(build, "dup-library").there);
  }
  SECTION("ICU is made for it") {
    library(build, "/lib/libicuuc.so.72", "dd");
    library(build, "/lib/libicuuc.so.70", "ee");
    CHECK_FALSE(raised(build, "dup-library").there);
  }
  SECTION("a thin library before the real one") {
    const NodeId thin = library(build, "/p/libpython3.so", "dd");
    build.needs(thin, library(build, "/p/libpython3.11.so.1.0", "ee"));
    CHECK_FALSE(raised(build, "dup-library").there);
  }
}

TEST_CASE("findings: two files that call themselves alike", "[findings]") {
  TraceBuilder build;
  const NodeId one = library(build, "/a/libreal.so", "aa");
  const NodeId other = library(build, "/b/libcopy.so", "bb");
  build.file(one).elf.dynamic.soname = "libsame.so.1";
  build.file(other).elf.dynamic.soname = "libsame.so.1";
  CHECK(raised(build, "dup-soname").there);
  build.file(other).link_namespace = 1;  // dlmopen keeps them apart
  CHECK_FALSE(raised(build, "dup-soname").there);
  CHECK(raised(build, "namespace").there);
}

TEST_CASE("findings: LD_LIBRARY_PATH beats the copy of the wheel", "[findings]") {
  TraceBuilder build;
  const NodeId core = build.extension("gpu._core", "/site/gpu/_core.so");
  const NodeId dnn = library(build, "/opt/cuda/lib64/libdnn.so.9", "aa");
  const EdgeId id = build.needs(core, dnn);
  build.edge(id).rule = Rule::env;
  SearchStep lost;
  lost.place = Rule::runpath;
  lost.outcome = SearchStep::Outcome::lost;
  lost.path = "/site/gpu.libs/libdnn.so.9";
  build.edge(id).search = {lost};
  const auto [there, finding] = raised(build, "ldpath-override");
  REQUIRE(there);
  CHECK(finding.severity == Severity::warning);
  CHECK(contains(finding.evidence.back(), "/site/gpu.libs/libdnn.so.9"));
  SECTION("nothing lost") {
    build.edge(id).search.clear();
    CHECK_FALSE(raised(build, "ldpath-override").there);
  }
  SECTION("of libstdc++ it is an error") {
    build.file(dnn).path.text = "/opt/lib/libstdc++.so.6";
    CHECK(raised(build, "ldpath-override").finding.severity == Severity::error);
  }
}

TEST_CASE("findings: the libpython of another Python", "[findings]") {
  TraceBuilder build;
  const NodeId program = build.executable("/opt/py/bin/python3.11");
  const NodeId python = library(build, "/usr/lib/libpython3.11.so.1.0", "aa");
  const EdgeId id = build.needs(program, python);
  build.edge(id).rule = Rule::env;
  SearchStep lost;
  lost.place = Rule::runpath;
  lost.outcome = SearchStep::Outcome::lost;
  lost.path = "/opt/py/lib/libpython3.11.so.1.0";
  build.edge(id).search = {lost};
  const auto [there, finding] = raised(build, "ldpath-shadow-python");
  REQUIRE(there);
  CHECK(finding.severity == Severity::error);
  build.edge(id).search.clear();
  CHECK_FALSE(raised(build, "ldpath-shadow-python").there);
}

TEST_CASE("findings: preloads, those that came and those that did not", "[findings]") {
  TraceBuilder build;
  const NodeId setting = build.environment("env:LD_PRELOAD", "/opt/libmymalloc.so.2 libnone.so");
  build.connect(setting, library(build, "/opt/libmymalloc.so.2", "aa"), EdgeKind::preload);
  CHECK(raised(build, "preload-active").finding.severity == Severity::note);
  CHECK_FALSE(raised(build, "preload-missing").there);
  build.connect(setting, build.missing("libnone.so"), EdgeKind::preload);
  const auto [there, finding] = raised(build, "preload-missing");
  REQUIRE(there);
  CHECK(finding.severity == Severity::warning);
  CHECK(contains(finding.title, "LD_PRELOAD names libnone.so"));
  CHECK_FALSE(raised(build, "missing-needed").there);
}

TEST_CASE("findings: a needed library that is not there", "[findings]") {
  SECTION("of a file: an error") {
    TraceBuilder build("x", 0);
    build.needs(build.library("/x/libuse.so"), build.missing("libnowhere.so.7"));
    const auto [there, finding] = raised(build, "missing-needed");
    REQUIRE(there);
    CHECK(finding.severity == Severity::error);
    CHECK(contains(finding.title, "libuse.so needs libnowhere.so.7"));
  }
  SECTION("in a process: a warning") {
    TraceBuilder build;
    build.needs(build.library("/x/libuse.so"), build.missing("libnowhere.so.7"));
    CHECK(raised(build, "missing-needed").finding.severity == Severity::warning);
  }
  SECTION("that may be missing") {
    TraceBuilder build("x", 0);
    const EdgeId id = build.needs(build.library("/x/libuse.so"), build.missing("libmay.so.7"));
    build.edge(id).optional = true;
    CHECK_FALSE(raised(build, "missing-needed").there);
  }
  SECTION("that the search finds: the loader stopped before it came so far") {
    TraceBuilder build;
    const EdgeId id = build.needs(build.library("/x/libuse.so"), build.missing("libc.so.6"));
    SearchStep step;
    step.outcome = SearchStep::Outcome::found;
    step.path = "/lib/libc.so.6";
    build.edge(id).search = {step};
    CHECK_FALSE(raised(build, "missing-needed").there);
  }
  SECTION("that stopped the loader under --run") {
    TraceBuilder build;
    build.needs(build.library("/x/libuse.so"), build.missing("libgone.so"));
    build.trace.failed_loads = {{1, "libgone.so", "cannot open shared object file", {}, {}}};
    CHECK(raised(build, "missing-needed").finding.severity == Severity::error);
  }
  SECTION("that is there for another machine") {
    TraceBuilder build("x", 0);
    const EdgeId id = build.needs(build.library("/x/libuse.so"), build.missing("libarm.so.7"));
    SearchStep step;
    step.outcome = SearchStep::Outcome::wrong_class;
    step.path = "/lib/libarm.so.7";
    build.edge(id).search = {step};
    CHECK(raised(build, "wrong-arch").there);
    CHECK_FALSE(raised(build, "missing-needed").there);
  }
}

TEST_CASE("findings: a symbol version that the found library lacks", "[findings]") {
  TraceBuilder build("x", 0);
  const EdgeId id = build.needs(build.library("/x/libuse.so"), build.library("/x/libver.so.1"));
  CHECK_FALSE(raised(build, "missing-version").there);
  build.edge(id).fatal = "version `V2' not found (required by libuse.so)";
  CHECK(raised(build, "missing-version").finding.severity == Severity::error);
}

TEST_CASE("findings: files that changed under the process", "[findings]") {
  using State = ObjectFile::State;
  TraceBuilder build;
  const NodeId file = library(build, "/lib/libz.so.1", "aa");
  const auto [state, code] = GENERATE(table<State, std::string>({{State::deleted, "deleted"},
                                                                 {State::replaced, "replaced"},
                                                                 {State::rewritten, "rewritten"}}));
  CHECK_FALSE(raised(build, code).there);
  build.file(file).state = state;
  CHECK(raised(build, code).finding.severity == Severity::warning);
  build.file(file).path.text = "/memfd:jit";  // never had a name
  CHECK_FALSE(raised(build, code).there);
  build.file(file).path.text = "/lib/libssl.so.3";
  if (state == State::replaced) {
    CHECK(raised(build, code).finding.severity == Severity::error);
  }
}

TEST_CASE("findings: what an object asks for", "[findings]") {
  TraceBuilder build;
  const NodeId file = library(build, "/lib/libodd.so", "aa");
  CHECK(find_problems(build.trace).empty());
  SECTION("an executable stack") {
    build.file(file).elf.executable_stack = true;
    CHECK(raised(build, "execstack").finding.severity == Severity::warning);
  }
  SECTION("relocations in code") {
    build.file(file).elf.dynamic.flags = 4;
    CHECK(raised(build, "textrel").there);
  }
  SECTION("static TLS, late") {
    build.file(file).elf.dynamic.flags = 0x10;
    CHECK(raised(build, "static-tls").finding.severity == Severity::note);
    build.trace.failed_loads = {
        {1, "/x/y.so", "cannot allocate memory in static TLS block", {}, {}}};
    const auto [there, finding] = raised(build, "static-tls");
    CHECK(finding.severity == Severity::error);
    CHECK(contains(finding.evidence.front(), "/x/y.so"));
    build.trace.failed_loads.clear();
    build.file(file).first_cause = "startup";
    CHECK_FALSE(raised(build, "static-tls").there);
  }
  SECTION("the current directory") {
    build.file(file).elf.dynamic.runpath = "/opt/lib:$ORIGIN/../lib";
    CHECK_FALSE(raised(build, "path-empty").there);
    build.file(file).elf.dynamic.runpath = "/opt/lib::lib";
    CHECK(raised(build, "path-empty").there);
  }
  SECTION("a place for temporary files") {
    build.file(file).path.text = "/tmp/x/libodd.so";
    CHECK(raised(build, "tmp-library").finding.severity == Severity::note);
    build.file(file).role = ObjectFile::Role::executable;  // started from there: nothing odd
    CHECK_FALSE(raised(build, "tmp-library").there);
  }
}

TEST_CASE("findings: glibc and musl in one process", "[findings]") {
  TraceBuilder build;
  build.library("/lib/libc.so.6");
  CHECK_FALSE(raised(build, "mixed-libc").there);
  build.library("/usr/lib/x86_64-linux-musl/libc.so");
  CHECK(raised(build, "mixed-libc").finding.severity == Severity::error);
}

TEST_CASE("findings: a restart would load something else", "[findings]") {
  TraceBuilder build;
  const EdgeId id = build.needs(build.library("/x/liba.so"), build.library("/x/libb.so"));
  CHECK_FALSE(raised(build, "prediction-differs").there);
  build.edge(id).restart_would_load = "/y/libb.so";
  CHECK(contains(raised(build, "prediction-differs").finding.evidence.front(), "/y/libb.so"));
}

TEST_CASE("findings: the worst come first, then those about more bytes", "[findings]") {
  TraceBuilder build;
  const NodeId small = build.library("/lib/libsmall.so", 10);
  const NodeId large = build.library("/lib/liblarge.so", 1000);
  build.file(small).state = ObjectFile::State::deleted;
  build.file(large).elf.executable_stack = true;
  build.file(small).link_namespace = 1;
  build.needs(large, build.missing("libnone.so"));
  const auto findings = find_problems(build.trace);
  REQUIRE(findings.size() == 4);
  CHECK(findings[0].code == "execstack");
  CHECK(findings[3].code == "namespace");
}

TEST_CASE("findings: every code is told once and can be explained", "[findings]") {
  std::set<std::string_view> codes;
  for (const FindingKind& kind : finding_kinds()) {
    CHECK(codes.insert(kind.code).second);
    CHECK_FALSE(kind.meaning.empty());
    CHECK_FALSE(kind.what_to_do.empty());
    CHECK(find_finding_kind(kind.code) == &kind);
  }
  CHECK(find_finding_kind("no-such") == nullptr);
}

TEST_CASE("findings: docs/findings.md lists every kind in the table's words", "[findings]") {
  const std::string page = test::read_file(test::tests_file("../docs/findings.md"));
  for (const FindingKind& kind : finding_kinds()) {
    CHECK(contains(page, fmt::format("| `{}` | {} |\n", kind.code, kind.summary)));
  }
}
