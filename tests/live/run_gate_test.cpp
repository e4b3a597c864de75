// One stop for each dlopen: the gate before the loader's hook.

#if defined(__x86_64__)

#include "base/text.hpp"
#include "launch/loader_gate.hpp"
#include "support/catch.hpp"
#include "support/places.hpp"
#include "support/run_program.hpp"
#include "support/run_support.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>

using namespace tracso;
using namespace tracso::test;

namespace {

using std::chrono::nanoseconds;

launch::RunResult record(const Arguments& argv, std::string* out = nullptr) {
  const SeenRun ran = run(argv, [](launch::RunOptions& options) { options.record_loads = true; });
  CAPTURE(argv, ran.err);
  REQUIRE(ran.result);
  if (out != nullptr) {
    *out = ran.out;
  }
  return *ran.result;
}

const launch::LoadRecord* load_of(const launch::RunResult& result, std::string_view file) {
  const auto found =
      std::find_if(result.loads.begin(), result.loads.end(), [&](const launch::LoadRecord& load) {
        return base_name(load.name) == file;
      });
  return found == result.loads.end() ? nullptr : &*found;
}

// Prints the first byte of the hook, here and in a child.
constexpr const char* hook_source = R"(
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
  const unsigned char *hook = dlsym(RTLD_DEFAULT, "_dl_debug_state");
  if (!hook) return 1;
  printf("%02x ", hook[0]);
  fflush(stdout);
  pid_t pid = fork();
  if (pid == 0) {
    printf("%02x", hook[0]);
    fflush(stdout);
    _exit(dlopen("libutil.so.1", RTLD_NOW) || dlopen("libm.so.6", RTLD_NOW) ? 0 : 1);
  }
  int status = 1;
  waitpid(pid, &status, 0);
  return status ? 2 : 0;
}
)";

// Forbids itself to read the clock; what it opens then is opened all the same.
constexpr const char* blind_source = R"(
#include <dlfcn.h>
#include <stdio.h>
#include <sys/prctl.h>
int main(int argc, char **argv) {
  if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0)) return 1;
  for (int i = 1; i < argc; ++i) {
    void *handle = dlopen(argv[i], RTLD_NOW);
    puts(handle ? "opened" : dlerror());
  }
  return 0;
}
)";

// Says how long its dlopen took.
constexpr const char* timing_source = R"(
#include <dlfcn.h>
#include <stdio.h>
#include <time.h>
static long long now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}
int main(int argc, char **argv) {
  if (argc < 2) return 1;
  struct timespec nap = {0, 30000000};
  nanosleep(&nap, 0);
  long long before = now();
  void *handle = dlopen(argv[1], RTLD_NOW);
  printf("%lld", now() - before);
  return handle ? 0 : 2;
}
)";

// A library that needs many; the path.
std::string many_libraries() {
  const std::string file = write_file("make_gate.sh",
                                      R"sh(set -e
cd "$(dirname "$0")"
mkdir -p gate
cd gate
echo 'int x;' > x.c
for i in $(seq 1 150); do test -e libgate$i.so || cc -shared -fPIC -nostdlib -o libgate$i.so x.c; done
cc -shared -fPIC -nostdlib -Wl,--no-as-needed -Wl,-rpath,'$ORIGIN' -o all.so x.c -L. $(seq -f '-lgate%g' 1 150)
)sh",
                                      0644);
  REQUIRE(std::system(("sh '" + file + "'").c_str()) == 0);
  return file.substr(0, file.rfind('/')) + "/gate/all.so";
}

}  // namespace

TEST_CASE("run gate: stands before the loader's hook, and not in children", "[live][run][gate]") {
  const std::string program = compile("gate_hook", hook_source, "cc -O1");
  const std::string native = run_natively({program}).out;
  REQUIRE(native.size() == 5);
  std::string out;
  const auto result = record({program}, &out);
  CHECK(shell_status(result) == 0);
  // By another clock of the kernel nothing could be told, so there is no gate.
  const bool gated = launch::is_steady_clock(
      read_file("/sys/devices/system/clocksource/clocksource0/current_clocksource"));
  if (!gated) {
    WARN("this machine measures time by another clock than tsc: there are two stops for a dlopen");
  }
  CHECK(out == (gated ? "e9 " + native.substr(3) : native));
  CHECK(result.code_executed == gated);
}

TEST_CASE("run gate: who may not read the clock does not die of it", "[live][run][gate]") {
  const std::string program = compile("gate_blind", blind_source, "cc -O1");
  const Arguments argv = {program, "/nowhere.so", "libanl.so.1", "libBrokenLocale.so.1"};
  const Native native = run_natively(argv);
  REQUIRE(native.status == 0);
  std::string out;
  const auto result = record(argv, &out);
  CHECK(shell_status(result) == 0);
  CHECK(out == native.out);
  CHECK(result.failed_loads.size() == 1);
  const auto* load = load_of(result, "libanl.so.1");
  REQUIRE(load != nullptr);
  CHECK(load->cause == launch::LoadCause::dlopen);
  CHECK(load->ended > load->began);
  CHECK(load_of(result, "libBrokenLocale.so.1") != nullptr);
}

TEST_CASE("run gate: a signal that the program gets is its own", "[live][run][gate]") {
  const std::string program =
      compile("gate_fault", "int main(void) { *(volatile int *)0 = 1; return 0; }\n", "cc -O1");
  CHECK(shell_status(record({program})) == 139);
}

TEST_CASE("run gate: how long a dlopen took is known without a stop", "[live][run][gate]") {
  const std::string program = compile("gate_timing", timing_source, "cc -O1");
  const std::string library = many_libraries();
  std::string out;
  const auto result = record({program, library}, &out);
  CHECK(shell_status(result) == 0);
  const auto* all = load_of(result, "all.so");
  const auto* last = load_of(result, "libgate150.so");
  REQUIRE(all != nullptr);
  REQUIRE(last != nullptr);
  const nanoseconds told{std::strtoll(out.c_str(), nullptr, 10)};
  const nanoseconds taken = all->ended - all->began;
  CAPTURE(told.count(), taken.count());
  CHECK(taken < told);
  CHECK(taken > std::chrono::microseconds(500));  // 151 files are opened and mapped in it
  CHECK(last->began == all->began);
  CHECK(all->began > std::chrono::milliseconds(30));
}

#endif
