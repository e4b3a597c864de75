// A command that is run by us does exactly what it does alone: same output, same end. With the
// breakpoints in its loader, as users run it, and without.

#include "support/catch.hpp"
#include "support/run_support.hpp"

using namespace tracso;
using namespace tracso::test;

namespace {

SeenRun check_same(const Arguments& argv) {
  const Native native = run_natively(argv);
  SeenRun ran;
  for (const bool records : {false, true}) {
    ran = run(argv, [&](launch::RunOptions& options) { options.record_loads = records; });
    CAPTURE(argv, records, ran.err);
    REQUIRE(ran.result);
    CHECK(ran.out == native.out);
    CHECK(shell_status(*ran.result) == native.status);
    CHECK(ran.looks.size() == 1);
  }
  return ran;
}

}  // namespace

TEST_CASE("run: output and status of programs are their own", "[live][run]") {
  const Arguments argv = GENERATE(
      Arguments{"/bin/true"},
      Arguments{"/bin/sh", "-c", "exit 3"},
      Arguments{"/bin/ls", "-la", "/usr/bin"},
      Arguments{"env", "sh", "-c", "echo $0; exec printf 'a\\nb'"},
      Arguments{"bash", "-c", "for i in 1 2 3; do echo $i | cat; done; (exit 4); echo $?; trap"},
      Arguments{"grep", "-E", "^Sig[BIC]|^ShdPnd|^Cap|^Groups|^Umask", "/proc/self/status"},
      Arguments{"cat", "/proc/self/limits"},
      Arguments{"bash", "-c", "ls -1 /proc/self/fd; readlink /proc/self/fd/0"},
      Arguments{
          "bash", "-c", "ps -o pgid= -p $$ | tr -d ' ' > /dev/null; cut -d' ' -f6,7 /proc/$$/stat"},
      Arguments{"env"});
  check_same(argv);
}

TEST_CASE("run: a command that kills itself is reported with its signal", "[live][run]") {
  const int number = GENERATE(9, 15, 11, 6, 5);
  const SeenRun ran = check_same({"/bin/sh", "-c", "kill -" + std::to_string(number) + " $$"});
  CHECK(ran.result->signal == number);
  CHECK(ran.result->moment == launch::MomentKind::exit_stop);
}

TEST_CASE("run: pythons that fork, spawn and thread give what they give alone", "[live][run]") {
  const std::string pool = write_file("pool.py", R"(
import multiprocessing, sys
def square(x): return x * x
if __name__ == "__main__":
    with multiprocessing.get_context(sys.argv[1]).Pool(4) as pool:
        print(pool.map(square, range(50)))
)");
  const std::string importers = write_file("importers.py", R"(
import importlib, sys, threading
names = "ssl sqlite3 lzma bz2 ctypes decimal zlib hashlib socket select mmap csv array json queue struct".split()
threads = [threading.Thread(target=importlib.import_module, args=(n,)) for n in names]
[t.start() for t in threads]; [t.join() for t in threads]
print(len(names), [n for n in names if n not in sys.modules])
)");
  const std::string alarms = write_file("alarms.py", R"(
import signal
count = 0
def tick(*_):
    global count
    count += 1
signal.signal(signal.SIGALRM, tick)
signal.setitimer(signal.ITIMER_REAL, 0.002, 0.002)
import ssl, decimal, ctypes, sqlite3
print(sum(range(3000000)))
signal.setitimer(signal.ITIMER_REAL, 0)
print(count > 3)
)");
  const std::string processes = write_file("processes.py", R"(
import subprocess, os
print(subprocess.run(["/bin/echo", "hi"], stdout=subprocess.PIPE))
print(subprocess.call(["/bin/sh", "-c", "exit 5"]), os.system("exit 6"))
print(os.waitpid(os.posix_spawn("/bin/sh", ["sh", "-c", "exit 7"], {}), 0)[1])
)");
  const Arguments rest = GENERATE_COPY(Arguments{pool, "fork"},
                                       Arguments{pool, "spawn"},
                                       Arguments{pool, "forkserver"},
                                       Arguments{importers},
                                       Arguments{alarms},
                                       Arguments{processes},
                                       Arguments{"-c", "import os; os._exit(3)"},
                                       Arguments{"-c", "raise SystemExit(7)"},
                                       Arguments{"-c", "1/0"},
                                       Arguments{"-c", "import ctypes; ctypes.string_at(0)"});
  Arguments argv = {python()};
  argv.insert(argv.end(), rest.begin(), rest.end());
  check_same(argv);
}

TEST_CASE("run: 200 forked workers end with their own status", "[live][run]") {
  // Each of them has copied the breakpoints; the odd ones finalize their Python.
  const std::string workers = write_file("workers.py", R"(
import os, ssl
pids = []
for i in range(200):
    pid = os.fork()
    if pid == 0:
        if i % 2: raise SystemExit(i % 7)
        os._exit(i % 7)
    pids.append(pid)
print([os.waitpid(p, 0)[1] for p in pids] == [i % 7 * 256 for i in range(200)])
)");
  const SeenRun ran = check_same({python(), workers});
  CHECK(ran.out == "True\n");
  CHECK(ran.result->children.size() == 200);
}

TEST_CASE("run: a worker that outlives its parent finalizes unharmed", "[live][run]") {
  // The worker waits until its parent's run is over and seen to be so.
  const std::string go = write_file("outlives.go", "");
  const std::string mark = write_file("outlives.txt", "");
  const std::string script = write_file("outlives.py", R"(
import os, sys, time
if os.fork() == 0:
    while not os.path.getsize(sys.argv[2]):
        time.sleep(0.01)
    import atexit
    atexit.register(lambda: open(sys.argv[1], "w").write("finalized"))
    sys.exit(0)
)");
  const SeenRun ran = run({python(), script, mark, go});
  REQUIRE(ran.result);
  CHECK(shell_status(*ran.result) == 0);
  write_file("outlives.go", "go");
  const Native later = run_natively(
      {"/bin/sh",
       "-c",
       "for i in $(seq 600); do [ -s " + mark + " ] && break; sleep 0.1; done; cat " + mark});
  CHECK(later.out == "finalized");
}

TEST_CASE("run: a static, a musl and a 32-bit program", "[live][run]") {
  const std::string source = R"(
#include <stdio.h>
int main(void) { puts("here"); return 4; }
)";
  const std::string program = GENERATE_COPY(compile("static", source, "cc -static"),
                                            compile("musl", source, "musl-gcc"),
                                            compile("narrow", source, "cc -m32"));
  const SeenRun ran = check_same({program});
  CHECK(ran.result->exit_status == 4);
  CHECK(ran.looks.front().maps.find(program) != std::string::npos);
}

TEST_CASE("run: commands that trace their own children can do so", "[live][run]") {
  SECTION("strace") {
    check_same({need_program({"/usr/bin/strace"}),
                "-f",
                "-e",
                "trace=none",
                "-o",
                "/dev/null",
                python(),
                "-c",
                "import ssl; print(1)"});
  }
  SECTION("gdb") {
    // Its output holds process numbers.
    const SeenRun ran =
        run({need_program({"/usr/bin/gdb"}), "-nx", "-q", "-batch", "-ex", "run", "/bin/true"});
    REQUIRE(ran.result);
    CHECK(ran.result->exit_status == 0);
    CHECK(ran.out.find("exited normally") != std::string::npos);
  }
}

TEST_CASE("run: memory shared with another process does no harm", "[live][run]") {
  const std::string program = compile("shared_memory", R"(
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static int value;
static int child(void *argument) { (void)argument; value = 5; return 9; }
int main(void) {
  char *stack = malloc(65536);
  for (int i = 0; i < 20; ++i) {
    int status = 0;
    pid_t pid = clone(child, stack + 65536, CLONE_VM | (i % 2 ? SIGCHLD : 0), NULL);
    if (waitpid(pid, &status, __WALL) != pid || WEXITSTATUS(status) != 9) return 1;
    if ((pid = vfork()) == 0) _exit(8);
    if (waitpid(pid, &status, 0) != pid || WEXITSTATUS(status) != 8) return 2;
  }
  printf("%d\n", value);
  return 0;
}
)");
  const SeenRun ran = check_same({program});
  CHECK(ran.out == "5\n");
}

TEST_CASE("run: a breakpoint of the command's own is its own", "[live][run]") {
  const std::string program = compile("own_trap", R"(
#include <signal.h>
#include <stdio.h>
static volatile int hits;
static void on_trap(int n) { (void)n; ++hits; }
int main(void) {
  signal(SIGTRAP, on_trap);
  raise(SIGTRAP);
#if defined(__x86_64__)
  __asm__ volatile("int3");
#else
  raise(SIGTRAP);
#endif
  printf("%d\n", hits);
  return 0;
}
)");
  CHECK(check_same({program}).out == "2\n");
}
