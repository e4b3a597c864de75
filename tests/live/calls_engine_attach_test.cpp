// tracso calls -S -p: the system calls of a process that runs already, which goes on as if nothing
// had been.

#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/places.hpp"
#include "support/run_program.hpp"
#include "support/scenario.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <csignal>
#include <string>
#include <thread>

using namespace tracso;
using test::calls_of;
using test::contains;
using test::Words;

namespace {

test::ProgramRun attach(pid_t pid, const Words& options) {
  Words words{"calls", "-S", "-p", std::to_string(pid)};
  words.insert(words.end(), options.begin(), options.end());
  return test::run_tracso(words);
}

std::string tracer_of(pid_t pid) {
  const auto status = test::read_file("/proc/" + std::to_string(pid) + "/status");
  const auto at = status.find("TracerPid:\t");
  return at == std::string::npos ? "?" : status.substr(at + 11, status.find('\n', at) - at - 11);
}

// A tracer that was killed is one until the kernel has taken down its memory, which takes a
// sanitized build a while; who waits for it may be told of the end before.
bool left_alone(pid_t pid) {
  for (int tries = 0; tries < 1000 && tracer_of(pid) != "0"; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return tracer_of(pid) == "0";
}

}  // namespace

TEST_CASE("calls engine: system calls of a process that runs", "[live][calls][engine][attach]") {
  test::Child child(
      {"/usr/bin/python3",
       "-c",
       "import os, sys, threading\n"
       "end = []\n"
       "threading.Thread(target=lambda: (sys.stdin.readline(), end.append(1))).start()\n"
       "print('ready', flush=True)\n"
       "while not end: os.access('/no/such/file', os.R_OK)\n"});
  REQUIRE(child.line() == "ready");
  const auto lines = attach(child.pid(), {"-d", "0.3", "-o", "-"});
  CHECK(lines.status == 0);
  CHECK(contains(lines.out, "SYS_access(\"/no/such/file\", "));
  CHECK(contains(lines.out, "= -1 ENOENT"));
  CHECK(contains(lines.err, "ran on, under ptrace"));
  CHECK_FALSE(contains(lines.out, "ERESTART"));
  CHECK(lines.out.ends_with("\n"));
  CHECK_FALSE(contains(lines.err, "in time"));
  CHECK(tracer_of(child.pid()) == "0");
  const auto table = attach(child.pid(), {"-d", "0.3", "-c", "--json"});
  REQUIRE(table.status == 0);
  const auto document = nlohmann::json::parse(table.out);
  CHECK(calls_of(document, "SYS_access") > 10);
  CHECK(calls_of(document, "SYS_access", "errors") > 10);
  CHECK(document["calls"][0]["callee"] == "[kernel]");
  child.write("end\n");
  CHECK(child.wait() == 0);
}

TEST_CASE("calls engine: what waits in a system call goes on waiting",
          "[live][calls][engine][attach]") {
  for (const char* what : {"epoll", "sleep", "poll", "semaphore", "busy", "storm"}) {
    INFO(what);
    test::Child child({test::attached_program(), what, "3"});
    REQUIRE(child.line() == "ready");
    for (int i = 0; i < 6; ++i) {
      const auto run = attach(child.pid(), {"-c", "-d", "0.05"});
      INFO(run.err);
      CHECK(run.status == 0);
      CHECK(tracer_of(child.pid()) == "0");
    }
    test::check_untouched(child);
  }
}

TEST_CASE("calls engine: a process whose tracso is killed runs on",
          "[live][calls][engine][attach]") {
  test::Child child({test::attached_program(), "busy", "3"});
  REQUIRE(child.line() == "ready");
  test::shell("timeout -s KILL 0.4 " + test::tracso_binary() + " calls -S -p " +
              std::to_string(child.pid()) + " -c -o /dev/null; true");
  CHECK(left_alone(child.pid()));
  test::check_untouched(child);
}

TEST_CASE("calls engine: a timeout that is waited for goes on, it does not begin anew",
          "[live][calls][engine][attach]") {
  test::Child child({"/usr/bin/python3",
                     "-c",
                     "import select, time\n"
                     "print('ready', flush=True)\n"
                     "start = time.monotonic()\n"
                     "select.poll().poll(2000)\n"
                     "print(time.monotonic() - start, flush=True)\n"});
  REQUIRE(child.line() == "ready");
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(1500);
  test::ProgramRun run;
  while (std::chrono::steady_clock::now() < end) {
    run = attach(child.pid(), {"-d", "0.2", "-o", "-"});
    CHECK(run.status == 0);
  }
  CHECK(contains(run.out, "SYS_poll("));
  CHECK_FALSE(contains(run.out, "restart_syscall"));
  const auto took = child.line();
  REQUIRE(took);
  CHECK(std::stod(*took) < 2.9);
  CHECK(child.wait() == 0);
}

TEST_CASE(
    "calls engine: when tracso goes, timeouts that the kernel forgets are what is left of them",
    "[live][calls][engine][attach]") {
  const auto program = test::scratch_folder() + "/waits";
  test::shell("gcc -O1 " + test::tests_file("live/calls/waits.c") + " -o " + program);
  for (const char* how : {"epoll", "semaphore", "signal"}) {
    INFO(how);
    test::Child child({program, how});
    REQUIRE(child.line() == "ready");
    REQUIRE(child.rests());
    const auto start = std::chrono::steady_clock::now();
    const auto run = attach(child.pid(), {"-d", "1.5", "-o", "-"});
    const std::chrono::duration<double, std::milli> visit =
        std::chrono::steady_clock::now() - start;
    CHECK(run.status == 0);
    const auto took = child.line();
    REQUIRE(took);
    INFO(run.out << *took);
    CHECK(std::stod(*took) >= 2000);
    // Anew it would be the visit and two seconds.
    CHECK(std::stod(*took) < 2000 + visit.count() - 1000);
    CHECK(child.wait() == 0);
  }
}

TEST_CASE("calls engine: zombies and traced processes are called so",
          "[live][calls][engine][attach]") {
  test::Child parent({"/usr/bin/python3",
                      "-c",
                      "import os, sys, time\n"
                      "child = os.fork()\n"
                      "if child == 0: os._exit(0)\n"
                      "os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)\n"
                      "print(child, flush=True)\n"
                      "sys.stdin.readline()\n"});
  const auto zombie = parent.line();
  REQUIRE(zombie);
  const auto ended = attach(static_cast<pid_t>(std::stol(*zombie)), {"-d", "0.1", "-c"});
  CHECK(ended.status == 3);
  CHECK(contains(ended.err, "zombie"));
  CHECK_FALSE(contains(ended.err, "security module"));
  test::shell("timeout -s KILL 20 " + test::tracso_binary() +
              " calls -S -c -d 15 -o /dev/null -p " + std::to_string(parent.pid()) +
              " >/dev/null 2>&1 & true");
  for (int i = 0; i < 500 && tracer_of(parent.pid()) == "0"; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  const auto tracer = tracer_of(parent.pid());
  REQUIRE(tracer != "0");
  const auto traced = attach(parent.pid(), {"-d", "0.1", "-c"});
  CHECK(traced.status == 4);
  CHECK(contains(traced.err, "process " + tracer + " traces it"));
  parent.write("end\n");
  CHECK(parent.wait() == 0);
}

TEST_CASE("calls engine: of a process only system calls, and of one",
          "[live][calls][engine][attach]") {
  CHECK(test::run_tracso({"calls", "-x", "main", "-p", "1"}).status == 2);
  CHECK(test::run_tracso({"calls", "-S", "-e", "open", "-p", "1"}).status == 2);
  CHECK(test::run_tracso({"calls", "-S", "-p", "1", "-p", "2"}).status == 2);
  CHECK(test::run_tracso({"calls", "-S", "-p", "999999999", "-d", "1"}).status == 3);
}
