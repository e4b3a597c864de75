// tracso calls -p: processes that are attached to while they work notice nothing, and are as they
// were afterwards.

#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/python_target.hpp"
#include "support/run_program.hpp"
#include "support/scenario.hpp"

#include <nlohmann/json.hpp>

#include <string>

using namespace tracso;
using test::calls_of;
using test::contains;
using test::Words;

TEST_CASE("attach: busy threads, again and again", "[live][attach]") {
  for (const char* how : {"", "-Wl,-z,lazy", "-fno-plt", "-no-pie -fPIC"}) {
    INFO(how);
    test::Child child({test::attached_program(how), "busy", "4"});
    REQUIRE(child.line() == "ready");
    const int times = std::string(how).empty() ? 12 : 3;
    for (int i = 0; i < times; ++i) {
      const auto seen = test::attached_document(test::attach(child.pid(), {"--json", "-d", "0.2"}));
      CHECK(calls_of(seen, "malloc") > 100);
      CHECK(calls_of(seen, "free") > 100);
      CHECK(calls_of(seen, "add_one") > 100);
      CHECK(test::notice_codes(seen) == Words{"calls-attached"});
    }
    test::check_untouched(child);
  }
}

TEST_CASE("attach: the second time is timed and filtered anew", "[live][attach]") {
  test::Child child({test::attached_program(), "busy", "2"});
  REQUIRE(child.line() == "ready");
  const auto one =
      test::attached_document(test::attach(child.pid(), {"--json", "-d", "0.2", "-e", "add_one"}));
  CHECK(calls_of(one, "add_one") > 100);
  CHECK(calls_of(one, "malloc") == 0);
  const auto other = test::attached_document(
      test::attach(child.pid(), {"--json", "--exact", "-d", "0.2", "-l", "libc.so*"}));
  CHECK(calls_of(other, "add_one") == 0);
  CHECK(calls_of(other, "malloc") > 100);
  for (const auto& row : other["calls"]) {
    if (row["symbol"] == "malloc") {
      CHECK(row["self_ns"].get<std::uint64_t>() > 0);
    }
  }
  const auto lines = test::attach(child.pid(), {"-d", "0.2", "-e", "add_one", "-o", "-"});
  CHECK(lines.status == 0);
  CHECK(contains(lines.out, "attached->add_one(1"));
  CHECK_FALSE(contains(lines.out, "malloc("));
  const auto counted =
      test::attached_document(test::attach(child.pid(), {"--json", "--count", "-d", "0.2"}));
  CHECK(calls_of(counted, "malloc") > 100);
  test::check_untouched(child);
}

TEST_CASE("attach: lines of JSON, and lines that cannot be written", "[live][attach]") {
  test::Child child({test::attached_program(), "busy", "2"});
  REQUIRE(child.line() == "ready");
  const auto pid = std::to_string(child.pid());
  const auto run =
      test::run_tracso({"calls", "--json", "-p", pid, "-d", "0.2", "-e", "add_one@attached"});
  INFO(run.err);
  CHECK(run.status == 0);
  std::size_t calls = 0;
  nlohmann::json last;
  for (const auto& record : test::records_of(run.out)) {
    calls += record["kind"] == "call" && record["function"] == "add_one" &&
                     record["pid"] == child.pid() && record["end"] == "returned"
                 ? 1
                 : 0;
    last = record;
  }
  CHECK(calls > 100);
  CHECK(last["kind"] == "end");
  CHECK(last["exit_status"].is_null());
  CHECK(last["notices"].dump().find("calls-attached") != std::string::npos);
  const auto full =
      test::run_tracso({"calls", "-p", pid, "-d", "0.2", "-e", "*", "-o", "/dev/full"});
  INFO(full.err);
  CHECK(full.status == 2);
  CHECK(contains(full.err, "cannot write /dev/full"));
}

TEST_CASE("attach: signals at any moment", "[live][attach]") {
  test::Child child({test::attached_program(), "storm", "3"});
  REQUIRE(child.line() == "ready");
  for (int i = 0; i < 6; ++i) {
    CHECK(calls_of(test::attached_document(test::attach(child.pid(), {"--json", "-d", "0.1"})),
                   "malloc") > 100);
  }
  test::check_untouched(child);
}

TEST_CASE("attach: registers of all kinds are given back", "[live][attach]") {
  test::Child child({test::attached_program(), "registers", "1"});
  REQUIRE(child.line() == "ready");
  // The two other threads wait in read and pthread_join: so that the busy one is borrowed as well.
  for (int i = 0; i < 5; ++i) {
    CHECK(test::attach(child.pid(), {"-c", "-d", "0.05"}).status == 0);
  }
  test::check_untouched(child);
}

TEST_CASE("attach: a program that loads and unloads meanwhile", "[live][attach]") {
  const auto program = test::attached_program();
  const auto plugin = program.substr(0, program.rfind('/')) + "/libplugin.so";
  test::Child child({program, "loading", "2", plugin});
  REQUIRE(child.line() == "ready");
  for (int i = 0; i < 5; ++i) {
    const auto run = test::attach(child.pid(), {"--json", "-d", "0.2"});
    if (run.status == 4) {  // nothing but dlopen goes on in it, all the time
      CHECK(contains(run.err, "safe point"));
      continue;
    }
    CHECK(calls_of(test::attached_document(run), "dlopen") > 0);
  }
  test::check_untouched(child);
}

TEST_CASE("attach: what stays is said, and is none of the libraries of the process",
          "[live][attach]") {
  test::Child child({test::attached_program(), "busy", "1"});
  REQUIRE(child.line() == "ready");
  const auto pid = std::to_string(child.pid());
  const auto libraries = [&] {
    return test::attached_document(test::run_tracso({"--json", pid}))["totals"]["libraries"]
        .get<int>();
  };
  const int before = libraries();
  const auto lines = test::attach(child.pid(), {"-d", "0.2", "-e", "add_one", "-o", "-"});
  REQUIRE(lines.status == 0);
  CHECK(lines.out.ends_with("\n"));
  CHECK(libraries() == before);
  const auto findings = test::run_tracso({"--findings", pid});
  CHECK_FALSE(contains(findings.out, "tracso-agent"));
  CHECK(contains(findings.err, "the agent of an earlier 'tracso calls -p' is in it"));
  CHECK_FALSE(contains(test::run_tracso({"--unused", pid}).out, "tracso-agent"));
  const auto stat = test::run_tracso({"stat", "-p", pid});
  CHECK(contains(stat.out, "the agent of an earlier 'tracso calls -p' is in it"));
  CHECK(contains(stat.out, "'virtual' has 4.00 TB of address space that it reserves"));
  test::check_untouched(child);
}

TEST_CASE("attach: gdb looks at it afterwards as before", "[live][attach]") {
  if (test::run_program({"/bin/sh", "-c", "command -v gdb"}).status != 0) {
    WARN("no gdb here");
    return;
  }
  test::Child child({test::attached_program(), "sleep", "1"});
  REQUIRE(child.line() == "ready");
  CHECK(test::attach(child.pid(), {"-c", "-d", "0.1"}).status == 0);
  // It opens what the loader says was loaded.
  const auto run = test::run_program({"timeout",
                                      "30",
                                      "gdb",
                                      "-nx",
                                      "-batch",
                                      "-iex",
                                      "set debuginfod enabled off",
                                      "-ex",
                                      "thread apply all bt",
                                      "-p",
                                      std::to_string(child.pid())});
  INFO(run.err);
  CHECK(run.status == 0);
  CHECK(contains(run.out, " main "));
  test::check_untouched(child);
}
