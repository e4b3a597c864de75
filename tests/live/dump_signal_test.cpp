// tracso dump --signal.

#include "support/catch.hpp"
#include "support/python_target.hpp"
#include "support/run_program.hpp"
#include "support/run_support.hpp"
#include "support/scenario.hpp"

#include <string>

using namespace tracso;

TEST_CASE("dump --signal: sent where a handler reports", "[live][dump]") {
  test::Child child({test::python(),
                     "-c",
                     "import faulthandler, signal, sys\n"
                     "faulthandler.enable()\n"
                     "faulthandler.register(signal.SIGUSR1, file=sys.stdout)\n"
                     "def here():\n"
                     "  print('ready', flush=True)\n"
                     "  while True: signal.pause()\n"
                     "here()\n"});
  REQUIRE(child.line() == "ready");
  REQUIRE(child.rests());
  const auto pid = std::to_string(child.pid());
  const auto run = test::run_tracso({"dump", "--signal", "usr1", pid});
  CHECK(run.status == 0);
  CHECK(test::contains(run.out, "   here ("));
  CHECK(test::contains(run.err, "sent SIGUSR1: "));
  const auto first = child.line();
  REQUIRE(first);
  CHECK(test::contains(*first, "(most recent call first)"));
  CHECK(test::contains(child.line().value_or(""), " in here"));

  // One without a handler would end it, and so would one whose handler reports a crash.
  for (const char* name : {"USR2", "SIGSEGV", "KILL", "TERM", "64"}) {
    INFO(name);
    const auto refused = test::run_tracso({"dump", "--signal", name, pid});
    CHECK(refused.status == 4);
    CHECK(refused.out.empty());
    CHECK(test::contains(refused.err, "it has handlers for SIGINT, SIGUSR1\n"));
  }
  CHECK(test::run_tracso({"dump", "--signal", "none", pid}).status == 2);
  CHECK(test::run_tracso({"dump", pid}).status == 0);
}

TEST_CASE("dump --signal: a process without handlers is told", "[live][dump]") {
  test::Child child({"cat"});
  REQUIRE(child.rests());
  const auto refused = test::run_tracso({"dump", "--signal", "USR1", std::to_string(child.pid())});
  CHECK(refused.status == 4);
  CHECK(test::contains(refused.err, "it has a handler for none"));
  child.write("x\n");
  CHECK(child.line() == "x");
}
