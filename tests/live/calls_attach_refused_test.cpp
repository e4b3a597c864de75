// tracso calls -p: processes that cannot be attached to, and those that make it difficult.

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
using test::Words;

TEST_CASE("attach: processes that cannot be attached to are refused untouched", "[live][attach]") {
  const auto folder = test::scratch_folder();
  test::write_file(
      folder + "/wait.c",
      "#include <unistd.h>\n#include <stdio.h>\nint main(void) { char c; puts(\"ready\"); "
      "fflush(stdout); return read(0, &c, 1) != 1; }\n");
  shell("cd " + folder + " && gcc -static wait.c -o wait-static && gcc wait.c -o wait-dynamic");
  const auto refused = [&](const Words& command, const std::string& reason) {
    INFO(command.front());
    test::Child child(command);
    REQUIRE(child.line() == "ready");
    const auto run = test::attach(child.pid(), {"-c", "-d", "0.1"});
    CHECK(run.status == 4);
    CHECK(contains(run.err, reason));
    child.write("x");
    CHECK(child.wait() == 0);
  };
  refused({folder + "/wait-static"}, "statically linked");
  if (test::run_program(
          {"/bin/sh", "-c", "cd " + folder + " && gcc -fsanitize=address wait.c -o wait-asan"})
          .status == 0) {
    refused({folder + "/wait-asan"}, "sanitizer");
  }
  if (test::run_program({"/bin/sh", "-c", "cd " + folder + " && musl-gcc wait.c -o wait-musl"})
          .status == 0) {
    refused({folder + "/wait-musl"}, "musl");
  }
  CHECK(test::attach(2, {"-c", "-d", "0.1"}).status != 0);
  test::Child stopped({folder + "/wait-dynamic"});
  REQUIRE(stopped.line() == "ready");
  REQUIRE(::kill(stopped.pid(), SIGSTOP) == 0);
  for (int i = 0;
       i < 500 && !contains(test::read_file(fmt::format("/proc/{}/stat", stopped.pid())), ") T ");
       ++i) {
    ::usleep(10'000);
  }
  const auto run = test::attach(stopped.pid(), {"-c", "-d", "0.1"});
  CHECK(run.status == 4);
  CHECK(contains(run.err, "kill -CONT"));
  ::kill(stopped.pid(), SIGCONT);
  stopped.write("x");
  CHECK(stopped.wait() == 0);
  CHECK(test::run_tracso({"calls", "-p", "999999999", "-c"}).status == 3);
  CHECK(test::run_tracso({"calls", "-p", "1", "ls"}).status == 2);
  CHECK(test::run_tracso({"calls", "-d", "1", "ls"}).status == 2);
  CHECK(test::run_tracso({"calls", "-f", "-p", "1"}).status == 2);
}

TEST_CASE("attach: where no memfd can be made, a file does, and is removed", "[live][attach]") {
  const auto program = test::scratch_folder() + "/without-memfd";
  shell(fmt::format("gcc -O0 {} -o {}", test::tests_file("live/calls/without_memfd.c"), program));
  test::Child child({program});
  if (child.line() != "ready") {
    WARN("no seccomp here: files instead of memfds not tried");
    return;
  }
  for (int i = 0; i < 2; ++i) {  // the second time the agent is there already
    CHECK(calls_of(test::attached_document(test::attach(child.pid(), {"--json", "-d", "0.2"})),
                   "malloc") > 0);
  }
  const auto maps = test::read_file(fmt::format("/proc/{}/maps", child.pid()));
  CHECK(contains(maps, "-tracso-agent.so (deleted)"));
  CHECK_FALSE(contains(maps, "memfd:"));
}

TEST_CASE("attach: of another user, and in other namespaces", "[live][attach]") {
  if (::geteuid() != 0 ||
      test::run_program({"unshare", "--pid", "--fork", "--mount-proc", "true"}).status != 0) {
    WARN("not root, or no unshare: other users and namespaces not tried");
    return;
  }
  const auto program = test::attached_program();
  // The folder of a test is its user's alone.
  shell(
      fmt::format("chmod 755 {0} && chmod 755 $(dirname {0}) $(dirname $(dirname {0}))", program));
  for (const Words& prefix :
       {Words{"setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"},
        {"unshare", "--pid", "--fork", "--mount-proc"}}) {
    INFO(prefix.front());
    Words words = prefix;
    words.insert(words.end(), {program, "busy", "1"});
    test::Child child(words);
    REQUIRE(child.line() == "ready");
    auto pid = child.pid();
    if (prefix.front() == "unshare") {
      pid = test::only_child(child.pid());
    }
    CHECK(calls_of(test::attached_document(test::attach(pid, {"--json", "-d", "0.2"})), "malloc") >
          0);
    test::check_untouched(child);
  }
}
