// tracso calls -p of a process that has no descriptor left.

#include "support/catch.hpp"
#include "support/python_target.hpp"
#include "support/run_program.hpp"
#include "support/scenario.hpp"

#include <string>

namespace tracso::test {
namespace {

TEST_CASE("attach: a process without a free descriptor is told to have none", "[live][attach]") {
  Child child({"/usr/bin/python3",
               "-c",
               "import os, resource\n"
               "resource.setrlimit(resource.RLIMIT_NOFILE, (20, 64))\n"
               "held = []\n"
               "try:\n"
               "  while True: held.append(os.dup(0))\n"
               "except OSError: pass\n"
               "os.write(1, b'ready\\n'); os.read(0, 1)"});
  REQUIRE(child.line() == "ready");
  REQUIRE(child.rests());
  const std::string pid = std::to_string(child.pid());
  const ProgramRun full = run_tracso({"calls", "-c", "-p", pid, "-d", "0.1"});
  CHECK(full.status == 4);
  CHECK(contains(full.err, "no free descriptor"));
  CHECK(contains(full.err, "prlimit --pid " + pid));
  REQUIRE(run_program({"prlimit", "--pid", pid, "--nofile=40"}).status == 0);
  CHECK(run_tracso({"calls", "-c", "-p", pid, "-d", "0.1"}).status == 0);
  child.write("x");
  CHECK(child.wait() == 0);
}

}  // namespace
}  // namespace tracso::test
