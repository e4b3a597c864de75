// The scenarios end to end: what would the person who reported this have wanted to read?

#include "support/catch.hpp"
#include "support/scenario.hpp"

#include <signal.h>

#include <algorithm>
#include <set>

namespace tracso::test {
namespace {

std::set<std::string> sources_of(const nlohmann::json& node) {
  return node.at("sources").get<std::set<std::string>>();
}

TEST_CASE("scenario 02: three copies of one library are three nodes with their owners",
          "[live][scenario]") {
  const Scenario scenario("02-bundled-copies.sh");
  const auto all = document({scenario.pid()});
  const auto first = node_named(all, "libfoo-1a2b3c4d.so.1.2.3");
  const auto second = node_named(all, "libfoo-9f8e7d6c.so.1.3.0");
  const auto system = node_named(all, "libfoo.so.1");
  REQUIRE(first.is_object());
  REQUIRE(second.is_object());
  REQUIRE(system.is_object());
  CHECK(sources_of(first) == std::set<std::string>{"py:alpha._al"});
  CHECK(sources_of(second) == std::set<std::string>{"py:beta._be"});
  CHECK(sources_of(system) == std::set<std::string>{"py:plain"});
  CHECK(edges_into(all, first.at("id")).front().at("rule") == "runpath");
  const std::string report = run_tracso({scenario.pid()}).out;
  CHECK(contains(report, "py:alpha._al"));
}

TEST_CASE("scenario 03: LD_LIBRARY_PATH beats RUNPATH, and --why shows both", "[live][scenario]") {
  const Scenario scenario("03-ldpath-beats-runpath.sh");
  const auto all = document({scenario.pid()});
  const auto library = node_named(all, "libdnn.so.9");
  REQUIRE(library.is_object());
  CHECK(library.at("path") == scenario.lab() + "/opt/cuda/lib64/libdnn.so.9");
  const auto edge = edges_into(all, library.at("id")).front();
  CHECK(edge.at("rule") == "env");
  const ProgramRun why = run_tracso({"--why", "libdnn.so.9", scenario.pid()});
  INFO(why.out);
  CHECK(why.status == 0);
  CHECK(contains(why.out, "LD_LIBRARY_PATH entry 2"));
  CHECK(contains(why.out, scenario.lab() + "/opt/cuda/lib64/libdnn.so.9"));
  CHECK(contains(why.out, scenario.lab() + "/site/gpu/../gpu.libs/libdnn.so.9"));
  CHECK(contains(why.out, "RUNPATH"));
}

TEST_CASE("scenario 04: replaced and deleted files are told apart from untouched ones",
          "[live][scenario]") {
  const Scenario scenario("04-deleted-after-upgrade.sh");
  const auto all = document({scenario.pid()});
  CHECK(node_named(all, "librepl.so.1").at("state") == "replaced");
  CHECK(node_named(all, "libgone.so.1").at("state") == "deleted");
  CHECK(node_named(all, "libsame.so.1").at("state") == "current");
  const ProgramRun why = run_tracso({"--why", "librepl.so.1", scenario.pid()});
  CHECK(why.status == 0);
  CHECK(contains(why.out, "librepl.so.1"));
}

TEST_CASE("scenario 05: an interpreter with another Python's library says by which rule",
          "[live][scenario]") {
  if (run_program({"sh", "-c", "ls -d ${PYENV_ROOT:-$HOME/.pyenv}/versions/3.11.*"}).status != 0) {
    WARN("NOT TRIED: scenario 05 needs a Python 3.11 of pyenv, whose libpython is not Debian's");
    return;
  }
  const Scenario scenario("05-wrong-libpython.sh");
  const auto all = document({scenario.pid()});
  const auto library = node_named(all, "libpython3.11.so.1.0");
  REQUIRE(library.is_object());
  CHECK(contains(library.at("path"), "/usr/lib/x86_64-linux-gnu/"));
  CHECK(edges_into(all, library.at("id")).front().at("rule") == "env");
  const ProgramRun why = run_tracso({"--why", "libpython", scenario.pid()});
  INFO(why.out);
  CHECK(contains(why.out, "LD_LIBRARY_PATH"));
  CHECK(contains(why.out, "versions/3.11"));  // the copy that lost
}

TEST_CASE("scenario 06: what LD_PRELOAD brought, and what it asked for in vain",
          "[live][scenario]") {
  const Scenario scenario("06-preload.sh");
  const auto all = document({scenario.pid()});
  const auto good = node_named(all, "libmymalloc.so.2");
  REQUIRE(good.is_object());
  CHECK(good.at("loaded") == true);
  CHECK(sources_of(good) == std::set<std::string>{"env:LD_PRELOAD"});
  const auto missing = node_named(all, "libjemalloc.so.9");
  REQUIRE(missing.is_object());
  CHECK(missing.at("loaded") == false);
  CHECK(missing.at("path").is_null());
  const auto codes = notice_codes(all);
  CHECK(std::count(codes.begin(), codes.end(), "preload-missing") == 1);
  const ProgramRun report = run_tracso({scenario.pid()});
  CHECK_FALSE(contains(report.out, "/never/loaded.so"));
  CHECK_FALSE(contains(report.out, "Orphans"));
  const ProgramRun why = run_tracso({"--why", "libmymalloc.so.2", scenario.pid()});
  CHECK(contains(why.out, "LD_PRELOAD"));
}

TEST_CASE("scenario 07: dlopen roots have no parent and are never blamed on libc",
          "[live][scenario]") {
  const Scenario scenario("07-dlopen-attribution.sh");
  const auto all = document({scenario.pid()});
  for (const char* name : {"libonly_ctypes.so", "libouter.so", "libinner.so"}) {
    CAPTURE(name);
    const auto node = node_named(all, name);
    REQUIRE(node.is_object());
    const auto edges = edges_into(all, node.at("id"));
    REQUIRE(edges.size() == 1);
    CHECK(edges.front().at("kind") == "dlopen");
    CHECK(edges.front().at("source") == all.at("target"));
    CHECK(sources_of(node).empty());
  }
  CHECK(sources_of(node_named(all, "_c.so")) == std::set<std::string>{"py:viac._c"});
  const ProgramRun why = run_tracso({"--why", "libinner.so", scenario.pid()});
  INFO(why.out);
  CHECK(contains(why.out, "caller unknown"));
  CHECK(contains(why.out, "its path appears in libouter.so"));
}

TEST_CASE("scenario 09: a library that would not load says what is missing, and exits 1",
          "[live][scenario]") {
  const Scenario scenario("09-missing-and-symbol-version.sh");
  const std::string file = scenario.lab() + "/libuse.so";
  const auto all = document({file}, {}, 1);
  const auto missing = node_named(all, "libnowhere.so.7");
  REQUIRE(missing.is_object());
  CHECK(missing.at("state") == "missing");
  const ProgramRun report = run_tracso({file});
  INFO(report.out);
  CHECK(report.status == 1);
  CHECK(contains(report.out, "libnowhere.so.7"));
  CHECK(contains(report.out, "V2"));
  const ProgramRun why = run_tracso({"--why", "libnowhere.so.7", file});
  INFO(why.out);
  CHECK(contains(why.out, scenario.lab() + "/old"));  // a place that was searched
}

// The row of a function in the document of `tracso calls`; null: it has none.
nlohmann::json calls_of(const nlohmann::json& calls, const std::string& symbol) {
  for (const auto& row : calls.at("calls")) {
    if (row.at("symbol") == symbol) {
      return row;
    }
  }
  return nullptr;
}

nlohmann::json counted(const std::vector<std::string>& command, const std::string& file) {
  std::vector<std::string> words{"calls", "--json", "-o", file};
  words.insert(words.end(), command.begin(), command.end());
  const ProgramRun ran = run_tracso(words);
  INFO(ran.err);
  REQUIRE(ran.status == 0);
  return nlohmann::json::parse(read_file(file));
}

TEST_CASE("scenario 13: calls are counted where ltrace is blind, or said not to be seen",
          "[live][scenario]") {
  const Scenario scenario("13-ltrace-blind.sh");
  const auto file = scenario.lab() + "/calls.json";
  for (const char* program : {"lazy", "now", "ibtnow", "noplt"}) {
    INFO(program);
    const auto calls = counted({scenario.lab() + "/" + program}, file);
    const auto row = calls_of(calls, "add");
    REQUIRE(row.is_object());
    CHECK(row.at("calls") == 1000);
    CHECK(row.at("callee") == "libadd.so");
    CHECK(row.at("caller") == program);
    CHECK(calls.at("lost") == 0);
  }
  // Through a pointer of dlsym, which no other tracer of calls sees.
  const auto hidden = counted({scenario.lab() + "/viadlsym"}, file);
  const auto row = calls_of(hidden, "add");
  REQUIRE(row.is_object());
  CHECK(row.at("calls") == 1000);
  CHECK(row.at("callee") == "libadd.so");
  CHECK(hidden.at("untraced").at("dlsym") == 0);
}

TEST_CASE("scenario 13: calls of a Python extension are counted and belong to it",
          "[live][scenario]") {
  TemporaryFolder folder;
  const auto calls = counted(
      {"/usr/bin/python3", "-c", "import bz2\nfor _ in range(200): bz2.compress(b'x' * 100)"},
      folder / "calls.json");
  const auto row = calls_of(calls, "BZ2_bzCompressInit");
  REQUIRE(row.is_object());
  CHECK(row.at("calls") == 200);
  CHECK(row.at("package") == "_bz2");
}

}  // namespace
}  // namespace tracso::test
