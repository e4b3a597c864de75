// What the loader does is told while it does it.

#include "support/catch.hpp"
#include "support/run_support.hpp"

#include <csignal>
#include <fstream>
#include <set>
#include <sstream>

using namespace tracso;
using namespace tracso::test;

namespace {

// The objects that are mapped as code.
std::set<std::string> objects(std::int32_t pid) {
  std::set<std::string> found;
  std::ifstream maps("/proc/" + std::to_string(pid) + "/maps");
  for (std::string line; std::getline(maps, line);) {
    const std::size_t slash = line.find('/');
    if (slash != std::string::npos && line.find(" r-xp ") != std::string::npos) {
      found.insert(line.substr(slash));
    }
  }
  return found;
}

struct Watched {
  SeenRun ran;
  std::vector<launch::LoaderEvent> events;
  std::vector<std::set<std::string>> objects_at;
};

Watched watch(const Arguments& argv) {
  Watched watched;
  watched.ran = run(argv, [&](launch::RunOptions& options) {
    options.on_load = [&](const launch::LoaderEvent& event) {
      watched.events.push_back(event);
      watched.objects_at.push_back(objects(event.pid));
    };
  });
  return watched;
}

bool contains(const std::set<std::string>& paths, std::string_view name) {
  return std::any_of(paths.begin(), paths.end(), [&](const std::string& path) {
    return path.find(name) != std::string::npos;
  });
}

std::string loading_program(const std::string& compiler, const std::string& name) {
  return compile(name,
                 R"(
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv) {
  usleep(30000);
  void *object = dlopen(argv[argc - 1], RTLD_NOW);
  if (!object) { puts(dlerror()); return 1; }
  usleep(30000);
  dlclose(object);
  return 0;
}
)",
                 compiler);
}

std::string empty_library(const std::string& compiler, const std::string& name) {
  return compile(name, "int tracso_test_value = 1;\n", compiler + " -shared -fPIC");
}

}  // namespace

TEST_CASE("run: a dlopen and a dlclose are told when they are complete", "[live][run][loads]") {
  const std::string library = empty_library("cc", "loaded.so");
  const Watched watched = watch({loading_program("cc", "loads"), library});
  REQUIRE(watched.ran.result);
  CHECK(watched.ran.result->exit_status == 0);
  REQUIRE(watched.events.size() == 3);  // the start, the load, the unload
  CHECK_FALSE(contains(watched.objects_at[0], library));
  CHECK(contains(watched.objects_at[0], "libc.so"));
  CHECK(contains(watched.objects_at[1], library));
  CHECK_FALSE(watched.events[1].removal);
  CHECK(watched.events[2].removal);
  CHECK_FALSE(contains(watched.objects_at[2], library));
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(watched.events[i].began <= watched.events[i].ended);
  }
  CHECK(watched.events[1].began > watched.events[0].ended + std::chrono::milliseconds(25));
}

TEST_CASE("run: musl's and a 32-bit loader tell too", "[live][run][loads]") {
  const std::string compiler = GENERATE(as<std::string>{}, "musl-gcc", "cc -m32");
  const std::string tag = compiler == "cc -m32" ? "narrow" : "musl";
  const std::string library = empty_library(compiler, tag + "_loaded.so");
  const Watched watched = watch({loading_program(compiler, tag + "_loads"), library});
  REQUIRE(watched.ran.result);
  CHECK(watched.ran.result->exit_status == 0);
  REQUIRE(watched.events.size() >= 2);
  CHECK_FALSE(contains(watched.objects_at.front(), library));
  CHECK(contains(watched.objects_at[1], library));
}

TEST_CASE("run: every library of a python appears at an event", "[live][run][loads]") {
  for (const std::string& program : python_programs()) {
    const Watched watched = watch({program, "-c", "import ssl, _ctypes; print(3)"});
    CAPTURE(program);
    REQUIRE(watched.ran.result);
    CHECK(watched.ran.out == "3\n");
    CHECK(watched.ran.result->moment == launch::MomentKind::python_end);
    REQUIRE_FALSE(watched.events.empty());
    CHECK(contains(watched.objects_at.back(), "libssl"));
    CHECK(contains(watched.objects_at.back(), "_ctypes"));
    CHECK_FALSE(contains(watched.objects_at.front(), "_ctypes"));
  }
}

TEST_CASE("run: 16 importing threads under a storm of alarms lose nothing", "[live][run][loads]") {
  const std::string script = write_file("storm.py", R"(
import importlib, signal, sys, threading
signal.signal(signal.SIGALRM, lambda *_: None)
signal.setitimer(signal.ITIMER_REAL, 0.002, 0.002)
names = "ssl sqlite3 lzma bz2 ctypes decimal zlib hashlib socket select mmap csv array json queue struct".split()
threads = [threading.Thread(target=importlib.import_module, args=(n,)) for n in names]
[t.start() for t in threads]; [t.join() for t in threads]
signal.setitimer(signal.ITIMER_REAL, 0)
print(len(names), [n for n in names if n not in sys.modules])
)");
  for (int round = 0; round < 5; ++round) {
    const Watched watched = watch({python(), script});
    REQUIRE(watched.ran.result);
    CHECK(watched.ran.out == "16 []\n");
    CHECK(watched.ran.result->exit_status == 0);
    CHECK(contains(watched.objects_at.back(), "libsqlite3"));
  }
}

TEST_CASE("run: threads that load without a common lock are all told", "[live][run][loads]") {
  const std::string program = compile("storm_of_loads", R"(
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
static void tick(int n) { (void)n; }
static char **names;
static void *load(void *a) {
  for (int i = 0; i < 30; ++i) {
    void *object = dlopen(names[(long)a % 2], RTLD_NOW);
    if (object) dlclose(object);
  }
  return 0;
}
int main(int argc, char **argv) {
  (void)argc;
  names = argv + 1;
  struct sigaction action = {.sa_handler = tick, .sa_flags = SA_RESTART};
  sigaction(SIGALRM, &action, 0);
  struct itimerval every = {{0, 2000}, {0, 2000}};
  setitimer(ITIMER_REAL, &every, 0);
  pthread_t t[16];
  for (long i = 0; i < 16; ++i) pthread_create(&t[i], 0, load, (void *)i);
  for (int i = 0; i < 16; ++i) pthread_join(t[i], 0);
  for (int i = 0; i < 10; ++i) {
    pid_t pid = fork();
    if (pid == 0) _exit(dlopen(names[i % 2], RTLD_NOW) ? 0 : 1);
    int status = 0;
    while (waitpid(pid, &status, 0) < 0) {}
    if (status != 0) printf("child %x\n", status);
  }
  puts("done");
  return 0;
}
)");
  const Watched watched =
      watch({program, empty_library("cc", "storm_a.so"), empty_library("cc", "storm_b.so")});
  REQUIRE(watched.ran.result);
  CHECK(watched.ran.out == "done\n");
  CHECK(watched.ran.result->exit_status == 0);
  CHECK(watched.events.size() > 10);
}

TEST_CASE("run: a python that is loaded late is caught at its end", "[live][run][loads]") {
  // A program that is not linked with Python and opens it: found at the loader's event.
  std::string library;
  for (const std::string& program : python_programs()) {
    const SeenRun ran = run({program, "-c", "pass"});
    const auto& maps = ran.looks.front().maps;
    const std::size_t name = maps.find("/libpython3.");
    if (name != std::string::npos) {
      const std::size_t begin = maps.rfind(' ', name) + 1;
      library = maps.substr(begin, maps.find('\n', name) - begin);
    }
  }
  if (library.empty()) {
    WARN("not tested: no Python here has a shared libpython");
    return;
  }
  const std::string program = compile("opens_python", R"(
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv) {
  void *python = dlopen(argv[argc - 1], RTLD_NOW | RTLD_GLOBAL);
  if (!python) { puts(dlerror()); return 1; }
  ((void (*)(void))dlsym(python, "Py_Initialize"))();
  int wrong = ((int (*)(const char *))dlsym(python, "PyRun_SimpleString"))("import _ssl");
  ((int (*)(void))dlsym(python, "Py_FinalizeEx"))();
  return wrong;
}
)");
  const Watched watched = watch({program, library});
  CAPTURE(watched.ran.out, watched.ran.err);
  REQUIRE(watched.ran.result);
  CHECK(watched.ran.result->exit_status == 0);
  CHECK(watched.ran.result->moment == launch::MomentKind::python_end);
}

TEST_CASE("run: nobody who asks costs nothing in the loader", "[live][run][loads]") {
  const SeenRun ran = run({"/bin/true"});
  REQUIRE(ran.result);
  // The one page is that of the program's first instruction.
  CHECK(ran.result->touched_pages.size() == 1);
}
