// tracso calls and processes that lock their memory (mlockall): what the agent reserves must not be
// brought in. Every command has a kill switch, for a failure fills the machine.

#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/places.hpp"
#include "support/run_program.hpp"
#include "support/scenario.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>

using namespace tracso;
using test::contains;
using test::shell;

namespace {

// nullopt where memory may not be locked here.
std::optional<std::string> locking_program() {
  const auto program = test::scratch_folder() + "/locking";
  shell(fmt::format("gcc -O1 {} -o {}", test::tests_file("live/calls/locking.c"), program));
  const auto run = test::run_program({"/bin/sh", "-c", "echo | timeout 10 " + program + " 3"});
  if (!contains(run.out, "locked")) {
    WARN("memory may not be locked here: mlockall not tried");
    return std::nullopt;
  }
  return program;
}

// All of the options, and killed after a while.
test::ProgramRun bounded(const std::string& words) {
  return test::run_program(
      {"/bin/sh", "-c", "echo | timeout -s KILL 10 " + test::tracso_binary() + " " + words});
}

}  // namespace

TEST_CASE("calls: a command that locks its memory does not fill the machine", "[live][calls]") {
  const auto program = locking_program();
  if (!program) {
    return;
  }
  for (const char* options : {"-c", "--count", "-e puts", "-f -c"}) {
    for (const char* flags : {"1", "2", "3"}) {
      INFO(options << " " << flags);
      const auto run = bounded(fmt::format("calls {} {} {}", options, *program, flags));
      INFO(run.err << run.out);
      CHECK(run.status == 0);
      CHECK(contains(run.out, "locked\n"));
      CHECK(contains(run.err, "locks its memory (mlockall)"));
    }
  }
}

TEST_CASE("attach: a process that has locked memory, and not what it will map, is traced",
          "[live][attach]") {
  const auto program = locking_program();
  if (!program) {
    return;
  }
  for (const char* flags : {"0", "1"}) {  // mlock of a page, MCL_CURRENT
    INFO(flags);
    test::Child child({"/usr/bin/timeout", "-s", "KILL", "9", *program, flags});
    REQUIRE(child.line() == "locked");
    const auto pid = test::only_child(child.pid());
    CHECK_FALSE(
        contains(test::read_file(fmt::format("/proc/{}/status", pid)), "VmLck:\t       0 kB"));
    for (int i = 0; i < 2; ++i) {
      const auto run = bounded(fmt::format("calls -p {} -d 0.1 -c", pid));
      INFO(run.err);
      CHECK(run.status == 0);
      child.write("again\n");
      CHECK(child.line() == "locked");
    }
    child.write("end\n");
    CHECK(child.wait() == 0);
  }
}

TEST_CASE("attach: a process that locks what it maps is refused untouched", "[live][attach]") {
  const auto program = locking_program();
  if (!program) {
    return;
  }
  for (const char* flags : {"2", "3"}) {  // 2: MCL_FUTURE, with nothing locked yet
    INFO(flags);
    test::Child child({*program, flags});
    REQUIRE(child.line() == "locked");
    const auto maps = [&] { return test::read_file(fmt::format("/proc/{}/maps", child.pid())); };
    const auto before = maps();
    const auto status = test::read_file(fmt::format("/proc/{}/status", child.pid()));
    CHECK(contains(status, "VmLck:\t       0 kB") == (flags == std::string("2")));
    const auto run = bounded(fmt::format("calls -p {} -d 0.1 -c", child.pid()));
    INFO(run.err);
    CHECK(run.status == 4);
    CHECK(contains(run.err, "it locks all that it maps"));
    CHECK(maps() == before);
    const auto report = bounded(fmt::format("{} --calls 0.1", child.pid()));
    CHECK(report.status == 4);
    CHECK(contains(report.out, "library calls were not counted: it locks all that it maps"));
    child.write("end\n");
    CHECK(child.wait() == 0);
  }
}

TEST_CASE("attach: a process that locks its memory afterwards is not filled", "[live][attach]") {
  const auto program = locking_program();
  if (!program) {
    return;
  }
  test::Child child({"/usr/bin/timeout", "-s", "KILL", "6", *program, "3", "late"});
  REQUIRE(child.line() == "ready");
  const auto pid = test::only_child(child.pid());
  CHECK(bounded(fmt::format("calls -p {} -d 0.1 -c", pid)).status == 0);
  child.write("go\n");
  CHECK(child.line() == "locked");
  child.write("end\n");
  CHECK(child.wait() == 0);
}
