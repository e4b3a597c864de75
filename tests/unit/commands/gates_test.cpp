#include "commands/gates.hpp"

#include "tracso/analysis.hpp"

#include "support/build_trace.hpp"
#include "support/catch.hpp"

using namespace tracso;

namespace {

std::size_t failures(const test::TraceBuilder& build, std::string_view spec) {
  const auto gates = parse_gates(spec);
  REQUIRE(gates);
  return failed_gates(build.trace, summarize(build.trace, ByteKind::file), *gates, {}).size();
}

}  // namespace

TEST_CASE("gates: forms that are none are refused with the forms that are", "[gates]") {
  for (const char* text : {"",
                           "x",
                           "finding>=bad",
                           "code:none",
                           "file>",
                           "file>x",
                           "libs<3",
                           "libs>2K",
                           "libs>2.5",
                           "file>500M,",
                           "file>-1",
                           "file>99999999999999999999G"}) {
    INFO(text);
    const auto gates = parse_gates(text);
    REQUIRE_FALSE(gates);
    CHECK(gates.error().hint.find("finding>=warning") != std::string::npos);
  }
  const auto gates = parse_gates("finding>=warning, code:dup-openmp,file>1.5KB,libs>60,private>1T");
  REQUIRE(gates);
  REQUIRE(gates->size() == 5);
  CHECK((*gates)[2].limit == 1536);
  CHECK((*gates)[4].limit == 1ULL << 40);
}

TEST_CASE("gates: totals, findings and codes", "[gates]") {
  test::TraceBuilder build;
  build.library("/lib/liba.so", 1000);
  build.library("/lib/libb.so", 1000);
  CHECK(failures(build, "file>2000") == 0);
  CHECK(failures(build, "file>1999") == 1);
  CHECK(failures(build, "libs>1") == 1);
  CHECK(failures(build, "libs>2") == 0);
  CHECK(failures(build, "resident>1") == 1);  // not measured: it cannot hold
  Finding finding;
  finding.code = "dup-openmp";
  finding.severity = Finding::Severity::warning;
  build.trace.findings = {finding};
  CHECK(failures(build, "finding>=error") == 0);
  CHECK(failures(build, "finding>=warning") == 1);
  CHECK(failures(build, "finding>=note") == 1);
  CHECK(failures(build, "code:dup-openmp") == 1);
  CHECK(failures(build, "code:dup-openssl,libs>1") == 1);
}

TEST_CASE("gates: what breaks one differs from it as it is shown", "[gates]") {
  test::TraceBuilder build;
  build.library("/lib/liba.so", (1ULL << 20) + 1);
  const auto gates = parse_gates("file>1M");
  REQUIRE(gates);
  const auto failed = failed_gates(build.trace, summarize(build.trace, ByteKind::file), *gates, {});
  REQUIRE(failed.size() == 1);
  CHECK(failed.front() == "file>1M: 1048577 B on disk");
}

TEST_CASE("gates: a denied library is named with its file", "[gates]") {
  test::TraceBuilder build;
  build.library("/opt/lib/libgdal.so.32", 1000);
  build.library("/lib/libz.so.1", 1000);
  const Summary summary = summarize(build.trace, ByteKind::file);
  const auto denied = failed_gates(build.trace, summary, {}, {"libgdal.so*", "/opt/*", "libx*"});
  REQUIRE(denied.size() == 2);
  CHECK(denied[0].find("/opt/lib/libgdal.so.32") != std::string::npos);
}
