// tracso calls -S -p: the system calls of a process that runs already, which goes on as if nothing
// had been.

#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/places.hpp"
#include "support/run_program.hpp"
#include "support/scenario.hpp"

#include <nlohmann/json.hpp>

#include <csignal>
#include <string>

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
  CHECK(tracer_of(child.pid()) == "0");
  test::check_untouched(child);
}

TEST_CASE("calls engine: of a process only system calls, and of one",
          "[live][calls][engine][attach]") {
  CHECK(test::run_tracso({"calls", "-x", "main", "-p", "1"}).status == 2);
  CHECK(test::run_tracso({"calls", "-S", "-e", "open", "-p", "1"}).status == 2);
  CHECK(test::run_tracso({"calls", "-S", "-p", "1", "-p", "2"}).status == 2);
  CHECK(test::run_tracso({"calls", "-S", "-p", "999999999", "-d", "1"}).status == 3);
}
