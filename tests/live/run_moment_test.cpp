// The moment at which a process is looked at.

#include "support/catch.hpp"
#include "support/run_support.hpp"

#include <unistd.h>

#include <chrono>
#include <csignal>

using namespace tracso;
using namespace tracso::test;
using launch::MomentKind;

namespace {

const Look& only_look(const SeenRun& ran) {
  CAPTURE(ran.err, ran.out);
  REQUIRE(ran.result);
  REQUIRE(ran.looks.size() == 1);
  return ran.looks.front();
}

bool has(const Look& look, std::string_view name) {
  return look.maps.find(name) != std::string::npos;
}

}  // namespace

TEST_CASE("run: every python is caught with its modules before it destroys them", "[live][run]") {
  for (const std::string& program : python_programs()) {
    const SeenRun ran = run({program, "-c", "import ssl"});
    CAPTURE(program);
    const Look& look = only_look(ran);
    CHECK(look.moment.kind == MomentKind::python_end);
    CHECK(look.moment.stopped);
    CHECK(has(look, "libssl"));
    CHECK(ran.result->exit_status == 0);
    CHECK(!ran.result->touched_pages.empty());
  }
}

TEST_CASE("run: python's modules and stdout are alive at the moment", "[live][run]") {
  for (const std::string& program : python_programs()) {
    // A finalizer that is called when modules are destroyed must not have run yet.
    const std::string script = write_file("order.py", R"(
import os, sys, atexit
class Mark(object):
    def __del__(self, write=os.write): write(1, b"module ")
mark = Mark()
atexit.register(lambda: os.write(1, b"exit-function "))
)");
    const SeenRun ran = run({program, script}, [](launch::RunOptions& options) {
      options.on_whole = [](const launch::Moment&) {
        [[maybe_unused]] const auto n = ::write(1, "moment ", 7);
      };
    });
    CAPTURE(program);
    CHECK(ran.out == "exit-function moment module ");
  }
}

TEST_CASE("run: what threads and exit functions import is seen", "[live][run]") {
  const std::string script = GENERATE_COPY(write_file("late_thread.py", R"(
import threading, time
def late():
    time.sleep(0.2)
    import ssl
threading.Thread(target=late).start()
)"),
                                           write_file("late_exit.py", R"(
import atexit
def late():
    import ssl
atexit.register(late)
)"));
  const SeenRun ran = run({python(), script});
  CHECK(only_look(ran).moment.kind == MomentKind::python_end);
  CHECK(has(only_look(ran), "libssl"));
}

TEST_CASE("run: ends without finalization are caught at the exit stop", "[live][run]") {
  const std::string code = GENERATE(as<std::string>{},
                                    "import ssl, os; os._exit(3)",
                                    "import ssl, os; os.kill(os.getpid(), 9)",
                                    "import ssl, ctypes; ctypes.string_at(0)",
                                    "import ssl, os; os.abort()",
                                    "import ssl, os, atexit; atexit.register(os._exit, 4)");
  const SeenRun ran = run({python(), "-c", code});
  CAPTURE(code);
  CHECK(only_look(ran).moment.kind == MomentKind::exit_stop);
  CHECK(has(only_look(ran), "libssl"));
}

TEST_CASE("run: the report is of the program that the command becomes", "[live][run]") {
  const std::string ssl = "import ssl";
  const Arguments argv =
      GENERATE_COPY(Arguments{"env", python(), "-c", ssl},
                    Arguments{"sh", "-c", "exec " + python() + " -c 'import ssl'"},
                    Arguments{"bash", "-c", "/bin/true; exec env " + python() + " -c 'import ssl'"},
                    Arguments{"/lib64/ld-linux-x86-64.so.2", python(), "-c", ssl});
  const SeenRun ran = run(argv);
  CHECK(only_look(ran).moment.kind == MomentKind::python_end);
  CHECK(has(only_look(ran), "libssl"));
  CHECK(only_look(ran).moment.pid == ran.result->pid);
}

TEST_CASE("run: a program that execs twice is seen as its last one", "[live][run]") {
  const std::string code = "import os, sqlite3; os.execv('" + python() +
                           "', ['python', '-c', \"import os; os.execv('/bin/sh', ['sh', '-c', "
                           "'exit 6'])\"])";
  const SeenRun ran = run({python(), "-c", code});
  CHECK(only_look(ran).command == "sh -c exit 6 ");
  CHECK(ran.result->exit_status == 6);
}

TEST_CASE("run: exec from another thread than the main one is followed", "[live][run]") {
  const std::string program = compile("exec_in_thread", R"(
#include <pthread.h>
#include <unistd.h>
static void *go(void *a) { execl("/bin/sh", "sh", "-c", "exit 8", (char *)0); return a; }
static void *idle(void *a) { pause(); return a; }
int main(void) {
  pthread_t t;
  for (int i = 0; i < 8; ++i) pthread_create(&t, 0, idle, 0);
  pthread_create(&t, 0, go, 0);
  pause();
  return 1;
}
)");
  for (int i = 0; i < 20; ++i) {
    const SeenRun ran = run({program});
    REQUIRE(ran.result);
    REQUIRE(!ran.looks.empty());
    CHECK(ran.result->exit_status == 8);
    CHECK(ran.looks.back().command == "sh -c exit 8 ");
    CHECK(ran.looks.back().moment.kind == MomentKind::exit_stop);
  }
}

TEST_CASE("run: a shell's children are listed, the report is the shell's", "[live][run]") {
  const SeenRun ran = run({"sh", "-c", python() + " -c 'import time; time.sleep(0.1)'; true"});
  CHECK(only_look(ran).command.starts_with("sh -c "));
  REQUIRE(ran.result->children.size() == 1);
  CHECK(ran.result->children.front().command.find("python") != std::string::npos);
}

TEST_CASE("run: a daemon's report is that of the process that was started", "[live][run]") {
  const SeenRun ran = run({python(),
                           "-c",
                           "import os, time, ssl\n"
                           "if os.fork() == 0:\n"
                           "  os.setsid()\n"
                           "  time.sleep(5)\n"});
  CHECK(only_look(ran).moment.pid == ran.result->pid);
  CHECK(ran.result->wall < std::chrono::seconds(4));
  REQUIRE(ran.result->children.size() == 1);
  CHECK(kill(ran.result->children.front().pid, SIGKILL) == 0);
}

TEST_CASE("run: the whole is seen when the main thread ends first", "[live][run]") {
  const std::string program = compile("main_ends_first", R"(
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static void *late(void *a) { usleep(200000); exit(5); return a; }
int main(void) { pthread_t t; pthread_create(&t, 0, late, 0); pthread_exit(0); }
)");
  const SeenRun ran = run({program});
  CHECK(only_look(ran).moment.kind == MomentKind::exit_stop);
  CHECK(only_look(ran).moment.thread != only_look(ran).moment.pid);
  CHECK(only_look(ran).moment.elapsed > std::chrono::milliseconds(190));
  CHECK(has(only_look(ran), program));
  CHECK(ran.result->exit_status == 5);
}

TEST_CASE("run: exit in any thread is seen at the main thread's end", "[live][run]") {
  const std::string program = compile("exit_in_thread", R"(
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static void *idle(void *a) { pause(); return a; }
static void *leave(void *a) { exit(7); return a; }
int main(void) {
  pthread_t t;
  for (int i = 0; i < 30; ++i) pthread_create(&t, 0, idle, 0);
  pthread_create(&t, 0, leave, 0);
  pause();
}
)");
  for (int i = 0; i < 20; ++i) {
    const SeenRun ran = run({program});
    CHECK(has(only_look(ran), program));
    CHECK(ran.result->exit_status == 7);
  }
}

TEST_CASE("run: --at seconds looks once and lets the command go on", "[live][run]") {
  const SeenRun ran = run({python(), "-c", "import ssl, time; time.sleep(3); print(1); exit(3)"},
                          [](launch::RunOptions& options) {
                            options.at = launch::At::seconds;
                            options.after = std::chrono::milliseconds(2000);
                          });
  CHECK(only_look(ran).moment.kind == MomentKind::elapsed);
  CHECK(only_look(ran).moment.elapsed >= std::chrono::milliseconds(2000));
  CHECK(has(only_look(ran), "libssl"));
  CHECK(ran.out == "1\n");
  CHECK(ran.result->exit_status == 3);
}

TEST_CASE("run: --at seconds with a command that ends earlier is its end", "[live][run]") {
  const SeenRun ran = run({python(), "-c", "import ssl"}, [](launch::RunOptions& options) {
    options.at = launch::At::seconds;
    options.after = std::chrono::seconds(30);
  });
  CHECK(only_look(ran).moment.kind == MomentKind::python_end);
}

TEST_CASE("run: --at idle waits until nothing runs any more", "[live][run]") {
  const SeenRun ran = run({python(),
                           "-c",
                           "import time, threading\n"
                           "threading.Thread(target=time.sleep, args=(2,)).start()\n"
                           "end = time.time() + 0.4\n"
                           "while time.time() < end: pass\n"
                           "import ssl\n"
                           "time.sleep(1.5)\n"
                           "print(2)"},
                          [](launch::RunOptions& options) { options.at = launch::At::idle; });
  CHECK(only_look(ran).moment.kind == MomentKind::idle);
  CHECK(only_look(ran).moment.elapsed >= std::chrono::milliseconds(800));
  CHECK(has(only_look(ran), "libssl"));
  CHECK(ran.out == "2\n");
  CHECK(ran.result->exit_status == 0);
}

TEST_CASE("run: threads that are looked at in the middle go on unharmed", "[live][run]") {
  const std::string program = compile("busy_threads", R"(
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
static long long counts[16];
static volatile int stop;
static void *count(void *a) {
  long i = (long)a;
  while (!stop) {
    ++counts[i];
    if (i == 0) { pid_t p = fork(); if (p == 0) _exit(0); waitpid(p, 0, 0); }
  }
  return 0;
}
int main(void) {
  pthread_t t[16];
  for (long i = 0; i < 16; ++i) pthread_create(&t[i], 0, count, (void *)i);
  usleep(600000);
  for (int wait = 0; wait < 200; ++wait) {  // on a busy machine some have not had a turn yet
    int counting = 0;
    for (long i = 0; i < 16; ++i) counting += *(volatile long long *)&counts[i] > 0;
    if (counting == 16) break;
    usleep(50000);
  }
  stop = 1;
  int alive = 0;
  for (long i = 0; i < 16; ++i) { pthread_join(t[i], 0); alive += counts[i] > 0; }
  printf("%d\n", alive);
  return 0;
}
)");
  const SeenRun ran = run({program}, [](launch::RunOptions& options) {
    options.at = launch::At::seconds;
    options.after = std::chrono::milliseconds(250);
  });
  CHECK(only_look(ran).moment.kind == MomentKind::elapsed);
  CHECK(ran.out == "16\n");
  CHECK(ran.result->exit_status == 0);
}
