// What describes and accuses nobody, and what the loader refused.

#include "tracso/analysis.hpp"
#include "tracso/findings.hpp"

#include "commands/gates.hpp"
#include "support/catch.hpp"
#include "support/finding_case.hpp"

#include <algorithm>

using namespace tracso;
using Severity = Finding::Severity;
using Case = test::FindingCase;
using test::says;

namespace {

std::vector<Finding> described(const Case& one) {
  return descriptions(one.build.trace, summarize(one.build.trace, ByteKind::file));
}

const Finding* find(const std::vector<Finding>& all, std::string_view code) {
  const auto found = std::find_if(
      all.begin(), all.end(), [&](const Finding& finding) { return finding.code == code; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace

TEST_CASE("findings: weights have codes", "[findings]") {
  Case one;
  const NodeId a = one.build.extension("a", "/site/a.so", 100);
  const NodeId b = one.build.extension("b", "/site/b.so", 100);
  const NodeId big = one.build.library("/lib/libbig.so.1", 9000);
  one.build.library("/lib/libnss_files.so.2", 50);
  one.build.needs(a, big);
  one.build.needs(b, big);
  const auto all = described(one);
  SECTION("each of them") {
    const Finding* shared = find(all, "shared-by");
    REQUIRE(shared != nullptr);
    CHECK(shared->severity == Severity::note);
    CHECK(shared->nodes == std::vector<NodeId>{big});
    CHECK(shared->owners == std::vector<std::string>{"py:a", "py:b"});
    CHECK_FALSE(shared->what_to_do.empty());
    CHECK(find(all, "heavy-one") != nullptr);
    const Finding* orphan = find(all, "orphan");
    REQUIRE(orphan != nullptr);
    CHECK(says(*orphan, "libnss_files.so.2"));
  }
  SECTION("a gate by severity passes over them, one by code does not") {
    const auto by_severity = parse_gates("finding>=note");
    const auto by_code = parse_gates("code:heavy-one");
    REQUIRE(by_severity);
    REQUIRE(by_code);
    CHECK(first_meant(by_severity->front(), all).empty());
    CHECK_FALSE(first_meant(by_code->front(), all).empty());
  }
  SECTION("the report tells them in its own sentences, once") {
    one.build.trace.findings = all;
    const Summary summary = summarize(one.build.trace, ByteKind::file);
    CHECK(summary.more_findings == 0);
    CHECK(std::count(summary.notable.begin(), summary.notable.end(), all.front().title) == 1);
  }
}

TEST_CASE("findings: no weight where nobody shares and none is heavy", "[findings]") {
  Case one;
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) {
    one.build.extension(name, "/site/" + std::string(name) + ".so", 100);
  }
  CHECK(described(one).empty());
}

TEST_CASE("findings: more than half of the resident bytes in one library", "[findings]") {
  Case one;
  const NodeId a = one.build.library("/lib/liba.so", 100);
  const NodeId b = one.build.library("/lib/libb.so", 100);
  one.build.cost(a).resident = 51;
  one.build.cost(b).resident = 49;
  const auto resident = [&] {
    for (const Finding& finding : described(one)) {
      if (finding.title.find("in memory") != std::string::npos) {
        return finding.nodes;
      }
    }
    return std::vector<NodeId>{};
  };
  CHECK(resident() == std::vector<NodeId>{a});
  one.build.cost(a).resident = 50;
  one.build.cost(b).resident = 50;
  CHECK(resident().empty());
  one.build.cost(b).resident = std::nullopt;
  CHECK(resident().empty());
}

TEST_CASE("findings: packages told by names of files only", "[findings]") {
  Case one;
  CHECK_FALSE(one.raised("probe-skipped"));
  one.build.trace.notices.push_back(
      {"python-probe-path", "known by names (why)", "less is seen", ""});
  const auto finding = one.raised("probe-skipped");
  REQUIRE(finding);
  CHECK(says(*finding, "known by names (why)"));
}

TEST_CASE("findings: what the loader refused, by how bad it is", "[findings]") {
  Case one;
  CHECK_FALSE(one.raised("load-refused"));
  FailedLoad failed;
  failed.name = failed.asked = "libmaybe.so.1";
  failed.reason = "cannot open shared object file: No such file or directory";
  const auto severity = [&] {
    one.build.trace.failed_loads = {failed};
    const auto finding = one.raised("load-refused");
    REQUIRE(finding);
    return finding->severity;
  };
  SECTION("a name that was tried") {
    CHECK(severity() == Severity::note);
  }
  SECTION("a name that was tried under musl") {
    failed.reason = "No such file or directory";
    CHECK(severity() == Severity::note);
    failed.reason += " (needed by /opt/plugin.so)";
    CHECK(severity() == Severity::warning);
  }
  SECTION("a file that needs what is not there") {
    failed.asked = "/site/_x.so";
    failed.needed_by = "_x.so";
    CHECK(severity() == Severity::warning);
    CHECK(says(*one.raised("load-refused"), "needed by _x.so"));
  }
  SECTION("a file that was turned down") {
    failed.reason = "wrong ELF class: ELFCLASS32";
    failed.imports = {{"", "/srv/app.py", 3, "__main__"},
                      {"pkg", "/site/pkg/__init__.py", 12, "pkg"}};
    CHECK(severity() == Severity::warning);
    const auto finding = one.raised("load-refused");
    CHECK(says(*finding, "another word size"));
    CHECK(says(*finding, "asked for at app.py:3, pkg/__init__.py:12"));
  }
  SECTION("the program did not start") {
    failed.asked.clear();
    CHECK(severity() == Severity::error);
    CHECK(one.raised("load-refused")->title.find("could not start") != std::string::npos);
  }
  SECTION("the program started all the same, without a preload") {
    failed.asked.clear();
    one.build.trace.loads.emplace_back();
    CHECK(severity() == Severity::warning);
    CHECK(one.raised("load-refused")->title == "the loader refused libmaybe.so.1");
  }
}
