// tracso calls -p: the process ends, becomes another program, or tracso is killed.

#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/places.hpp"
#include "support/python_target.hpp"
#include "support/run_program.hpp"
#include "support/scenario.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <csignal>
#include <string>

using namespace tracso;
using test::calls_of;
using test::contains;
using test::shell;

// What is left of a tracso that was killed takes its time to let go, on a busy machine some of it.
auto attach_behind_killed(pid_t target) {
  auto after = test::attach(target, {"--json", "-d", "0.2"});
  constexpr int refused = 4;
  for (int i = 0; i < 50 && after.status == refused; ++i) {
    ::usleep(200'000);
    after = test::attach(target, {"--json", "-d", "0.2"});
  }
  return after;
}

TEST_CASE("attach: the target ends, or tracso is killed", "[live][attach]") {
  const auto program = test::attached_program();
  {
    test::Child child({program, "busy", "2"});
    REQUIRE(child.line() == "ready");
    const auto lines = program + ".txt";
    const auto started =
        test::run_program({"/bin/sh",
                           "-c",
                           fmt::format("{} calls -e add_one -p {} -o {} >/dev/null 2>&1 & echo $!",
                                       test::tracso_binary(),
                                       child.pid(),
                                       lines)});
    const auto watcher = static_cast<pid_t>(std::stol(started.out));
    const auto has_line = [&] { return contains(test::read_file(lines), "attached->add_one("); };
    for (int i = 0; i < 1000 && !has_line(); ++i) {
      ::usleep(20'000);
    }
    CHECK(has_line());
    child.write("end\n");
    REQUIRE(child.line());
    CHECK(child.wait() == 0);
    for (int i = 0; i < 1000 && ::kill(watcher, 0) == 0; ++i) {
      ::usleep(20'000);
    }
    CHECK(::kill(watcher, 0) != 0);
  }
  test::Child child({program, "busy", "2"});
  REQUIRE(child.line() == "ready");
  for (const char* option : {"-c", "-L -e malloc -o /dev/null"}) {
    shell(fmt::format(
        "{0} calls {2} -p {1} >/dev/null 2>&1 & tracer=$!; "
        "i=0; while [ $i -lt 1000 ] && ! grep -q tracso-agent /proc/{1}/maps; do "
        "sleep 0.02; i=$((i + 1)); done; sleep 0.1; kill -9 $tracer; wait $tracer; true",
        test::tracso_binary(),
        child.pid(),
        option));
  }
  CHECK(calls_of(test::attached_document(attach_behind_killed(child.pid())), "malloc") > 100);
  test::check_untouched(child);
}

TEST_CASE("attach: tracso killed at any moment of it", "[live][attach]") {
  test::Child child({test::attached_program(), "storm", "2"});
  REQUIRE(child.line() == "ready");
  shell(
      fmt::format("i=0; while [ $i -lt 40 ]; do {} calls -c -p {} >/dev/null 2>&1 & tracer=$!; "
                  "sleep 0.0$((i % 10))$((i * 7 % 10)); kill -9 $tracer; wait $tracer; "
                  "i=$((i + 1)); done; true",
                  test::tracso_binary(),
                  child.pid()));
  CHECK(calls_of(test::attached_document(attach_behind_killed(child.pid())), "malloc") > 100);
  test::check_untouched(child);
}

TEST_CASE("attach: another program by exec is left alone", "[live][attach]") {
  const auto program = test::attached_program();
  test::Child waits({"/bin/sh", "-c", "echo ready; read line; exec " + program + " busy 1"});
  REQUIRE(waits.line() == "ready");
  REQUIRE(waits.rests());
  const auto lines = program + ".exec";
  const auto started =
      test::run_program({"/bin/sh",
                         "-c",
                         fmt::format("{} calls -c -p {} -d 2 -o {} >/dev/null 2>&1 "
                                     "& echo $!",
                                     test::tracso_binary(),
                                     waits.pid(),
                                     lines)});
  const auto watcher = static_cast<pid_t>(std::stol(started.out));
  for (int i = 0; i < 500 && !contains(test::read_file(fmt::format("/proc/{}/maps", waits.pid())),
                                       "tracso-calls");
       ++i) {
    ::usleep(10'000);
  }
  waits.write("go\n");
  REQUIRE(waits.line() == "ready");
  for (int i = 0; i < 1000 && ::kill(watcher, 0) == 0; ++i) {
    ::usleep(20'000);
  }
  CHECK(contains(test::read_file(lines), "it runs another program by now (exec)"));
  test::check_untouched(waits);
}

TEST_CASE("attach: a command whose tracso was killed is refused", "[live][attach]") {
  const auto program = test::attached_program();
  const auto started = test::run_program(
      {"/bin/sh",
       "-c",
       fmt::format(
           "mkfifo {0}.in; exec 3<>{0}.in; {1} calls -c -e add_one -o /dev/null {0} busy 1 "
           "<&3 >{0}.out 2>/dev/null & tracer=$!; i=0; while [ $i -lt 500 ] && ! grep -q ready "
           "{0}.out 2>/dev/null; do sleep 0.02; i=$((i + 1)); done; "
           "cat /proc/$tracer/task/$tracer/children; kill -9 $tracer; wait $tracer",
           program,
           test::tracso_binary())});
  INFO(started.err);
  const auto pid = static_cast<pid_t>(std::stol(started.out));
  const auto refused = test::attach(pid, {"-c", "-d", "0.2"});
  CHECK(refused.status == 4);
  CHECK(contains(refused.err, "that is no more"));
  ::kill(pid, SIGKILL);
}
