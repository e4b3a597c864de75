// tracso calls -p: what waits in a system call when a thread is borrowed goes on waiting.

#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/places.hpp"
#include "support/python_target.hpp"
#include "support/run_program.hpp"

#include <fmt/format.h>

#include <csignal>
#include <string>

using namespace tracso;
using test::shell;

TEST_CASE("attach: calls that wait go on waiting", "[live][attach]") {
  for (const char* what : {"epoll", "sleep", "poll", "semaphore"}) {
    INFO(what);
    test::Child child({test::attached_program(), what, "1"});
    REQUIRE(child.line() == "ready");
    for (int i = 0; i < 8; ++i) {
      CHECK(test::attach(child.pid(), {"-c", "-d", "0.05"}).status == 0);
    }
    test::check_untouched(child);
  }
}

TEST_CASE("attach: the only thread waits with a timeout, and its call does not fail",
          "[live][attach]") {
  const auto folder = test::scratch_folder();
  test::write_file(folder + "/alone.c",
                   "#include <poll.h>\n#include <stdio.h>\n#include <time.h>\n"
                   "int main(void) { int bad = 0; puts(\"ready\"); fflush(stdout);\n"
                   "for (int i = 0; i < 4; ++i) { struct timespec t = {0, 400000000};\n"
                   "bad += poll(0, 0, 400) != 0; bad += nanosleep(&t, 0) != 0; }\n"
                   "return bad; }\n");
  shell(fmt::format("gcc -O1 -o {0}/alone {0}/alone.c", folder));
  test::Child child({folder + "/alone"});
  REQUIRE(child.line() == "ready");
  for (int i = 0; i < 4; ++i) {
    CHECK(test::attach(child.pid(), {"-c", "-d", "0.05"}).status == 0);
    ::kill(child.pid(), SIGSTOP);  // from now on it is in restart_syscall(2)
    ::kill(child.pid(), SIGCONT);
  }
  CHECK(child.wait() == 0);
}

TEST_CASE("attach: a Python that waits is traced, then waits on", "[live][attach]") {
  const auto pythons = test::pythons();
  if (pythons.empty()) {
    WARN("no Python here");
    return;
  }
  test::Child child({pythons.front().program,
                     "-u",
                     "-c",
                     "import selectors, sys, os\n"
                     "s = selectors.DefaultSelector()\n"
                     "s.register(sys.stdin, selectors.EVENT_READ)\n"
                     "print('ready')\n"
                     "while True:\n"
                     "  if s.select():\n"
                     "    line = sys.stdin.readline()\n"
                     "    print('got', line.strip())\n"
                     "    if line == 'end\\n': break\n"});
  REQUIRE(child.line() == "ready");
  REQUIRE(child.rests());
  CHECK(test::attach(child.pid(), {"-c", "-d", "0.1"}).status == 0);
  CHECK(test::attach(child.pid(), {"-d", "0.1"}).status == 0);
  child.write("one\n");
  CHECK(child.line() == "got one");
  child.write("end\n");
  CHECK(child.line() == "got end");
  CHECK(child.wait() == 0);
}
