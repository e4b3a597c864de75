// Findings on real processes: what must be silent, and what people reported elsewhere.

#include "support/catch.hpp"
#include "support/python_target.hpp"
#include "support/scenario.hpp"

#include <set>

namespace tracso::test {
namespace {

nlohmann::json finding(const nlohmann::json& all, const std::string& code) {
  for (const auto& one : all.at("findings")) {
    if (one.at("code") == code) {
      return one;
    }
  }
  return nullptr;
}

std::set<std::string> codes_above_notes(const nlohmann::json& all) {
  std::set<std::string> codes;
  for (const auto& one : all.at("findings")) {
    if (one.at("severity") != "note") {
      codes.insert(one.at("code").get<std::string>() + ": " + one.at("title").get<std::string>());
    }
  }
  return codes;
}

TEST_CASE("findings: clean processes have none", "[live][findings]") {
  const std::vector<std::string> argv = GENERATE(
      std::vector<std::string>{"/bin/bash", "-c", "echo ready; read line"},
      std::vector<std::string>{"/usr/bin/python3", "-c", "print('ready'); input()"},
      std::vector<std::string>{"/usr/bin/perl", "-e", "$|=1; print \"ready\\n\"; <STDIN>"});
  INFO(argv.front());
  Child child(argv, {"PYTHONUNBUFFERED=1"});
  REQUIRE(child.line() == "ready");
  CHECK(codes_above_notes(document({std::to_string(child.pid())})).empty());
}

TEST_CASE("findings: bundled copies, 3 builds with their owners", "[live][findings]") {
  const Scenario scenario("02-bundled-copies.sh");
  const auto all = document({scenario.pid()});
  const auto copies = finding(all, "dup-library");
  REQUIRE_FALSE(copies.is_null());
  CHECK(copies.at("nodes").size() == 3);
  CHECK(copies.at("owners") == nlohmann::json::array({"py:alpha._al", "py:beta._be", "py:plain"}));
}

TEST_CASE("findings: LD_LIBRARY_PATH beats the wheel's own copy", "[live][findings]") {
  const Scenario scenario("03-ldpath-beats-runpath.sh");
  const auto all = document({scenario.pid()});
  const auto override_ = finding(all, "ldpath-override");
  REQUIRE_FALSE(override_.is_null());
  CHECK(override_.at("severity") == "warning");
  const auto report = run_tracso({scenario.pid()});
  CHECK(contains(report.out, "comes from LD_LIBRARY_PATH"));
}

TEST_CASE("findings: replaced and deleted files are told apart", "[live][findings]") {
  const Scenario scenario("04-deleted-after-upgrade.sh");
  const auto all = document({scenario.pid()});
  CHECK(finding(all, "replaced").at("nodes").size() == 1);
  CHECK(finding(all, "deleted").at("nodes").size() == 1);
}

TEST_CASE("findings: a preload that came and one that did not", "[live][findings]") {
  const Scenario scenario("06-preload.sh");
  const auto all = document({scenario.pid()});
  CHECK(
      contains(finding(all, "preload-active").at("title").get<std::string>(), "libmymalloc.so.2"));
  CHECK(
      contains(finding(all, "preload-missing").at("title").get<std::string>(), "libjemalloc.so.9"));
  // Set by the program itself: not taken for one that did not come.
  for (const auto& one : all.at("findings")) {
    CHECK(contains(one.dump(), "/never/loaded.so") == (one.at("code") == "preload-late"));
  }
}

TEST_CASE("findings: gates fail with what they found, and the document stays whole",
          "[live][findings]") {
  const Scenario scenario("06-preload.sh");
  const auto failed =
      run_tracso({"--json", "--fail-on", "code:preload-missing,libs>2", scenario.pid()});
  CHECK(failed.status == 1);
  CHECK(nlohmann::json::accept(failed.out));
  CHECK(contains(failed.err, "failed: code:preload-missing"));
  CHECK(contains(failed.err, "failed: libs>2"));
  CHECK(run_tracso({"--fail-on", "finding>=error", scenario.pid()}).status == 0);
  CHECK(run_tracso({"--deny", "libmymalloc*", scenario.pid()}).status == 1);
  CHECK(run_tracso({"--fail-on", "nonsense", scenario.pid()}).status == 2);
}

TEST_CASE("findings: a gate that is kept says that the command failed", "[live][findings]") {
  const auto run = [](const char* condition, const char* script) {
    return run_tracso({"--fail-on", condition, "--run", "/bin/sh", "-c", script});
  };
  const auto failed = run("libs>500", "exit 3");
  CHECK(failed.status == 0);
  CHECK(contains(failed.err, "sh itself ended with 3, which no gate is about"));
  CHECK(contains(run("libs>500", "kill -9 $$").err, "sh itself ended with SIGKILL"));
  CHECK_FALSE(contains(run("libs>500", "true").err, "itself ended"));
  CHECK_FALSE(contains(run("libs>0", "exit 3").err, "itself ended"));
  CHECK_FALSE(contains(run_tracso({"--run", "/bin/sh", "-c", "exit 3"}).err, "itself ended"));
}

TEST_CASE("findings: every code explains itself", "[live][findings]") {
  const auto list = run_tracso({"--explain", "list"});
  CHECK(list.status == 0);
  CHECK(contains(list.out, "dup-openmp"));
  CHECK(contains(run_tracso({"--explain", "dup-openmp"}).out, "pool of threads"));
  const auto typo = run_tracso({"--explain", "dup-openm"});
  CHECK(typo.status == 2);
  CHECK(contains(typo.err, "dup-openmp"));
}

}  // namespace
}  // namespace tracso::test
