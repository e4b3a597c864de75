// One stop for each dlopen: the gate before the loader's hook; and that nothing of it is left where
// we are not any more.

#if defined(__x86_64__)

#include "base/text.hpp"
#include "launch/loader_gate.hpp"
#include "os/live_process.hpp"
#include "support/catch.hpp"
#include "support/places.hpp"
#include "support/run_program.hpp"
#include "support/run_support.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <functional>

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

// Compares the loader's code with its file, in itself, in a child that outlives it (second word
// "child"), or in one for which it waits in the kernel ("vfork"), and writes into a file what it
// finds: "ours" while there is a difference, "same", and at the end what dlopen says to one who may
// not read the clock.
constexpr const char* watching_source = R"(
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>
static const char *mark;
static void say(const char *word) {
  FILE *file = fopen(mark, "a");
  fprintf(file, "%s\n", word);
  fclose(file);
}
static int look(struct dl_phdr_info *info, size_t size, void *differ) {
  const char *hook = dlsym(RTLD_DEFAULT, "_dl_debug_state");
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr) *header = info->dlpi_phdr + i;
    const char *code = (const char *)(info->dlpi_addr + header->p_vaddr);
    if (header->p_type != PT_LOAD || hook < code || hook >= code + header->p_filesz) continue;
    int file = open(info->dlpi_name, O_RDONLY);
    const char *bytes = mmap(0, header->p_offset + header->p_filesz, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (bytes == MAP_FAILED) return 1;
    *(int *)differ = memcmp(code, bytes + header->p_offset, header->p_filesz) != 0;
    munmap((void *)bytes, header->p_offset + header->p_filesz);
    return 1;
  }
  return 0;
}
static int differs(void) {
  int differ = -1;
  dl_iterate_phdr(look, &differ);
  return differ;
}
static int watch(void) {
  say(differs() ? "ours" : "same");
  for (int i = 0; i < 1000 && differs(); ++i) usleep(10000);
  say(differs() ? "ours" : "same");
  return 0;
}
static int open_without_clock(void) {
  if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0)) return 1;
  dlopen("/nowhere.so", RTLD_NOW);
  say(dlopen("libanl.so.1", RTLD_NOW) ? "opened" : dlerror());
  return 0;
}
int main(int argc, char **argv) {
  if (argc < 2) return 1;
  mark = argv[1];
  const int ignored[] = {SIGINT, SIGTERM, SIGHUP};
  for (int i = 0; i < 3; ++i) signal(ignored[i], SIG_IGN);
  if (argc > 2 && !strcmp(argv[2], "vfork")) {
    if (vfork() == 0) _exit(watch());
    return open_without_clock();
  }
  if (argc > 2) {
    pid_t parent = getpid();
    if (fork()) return 0;
    say(differs() ? "ours" : "same");
    while (getppid() == parent) usleep(1000);
    usleep(300000);
    return open_without_clock();
  }
  watch();
  return open_without_clock();
}
)";

// A run that records, in a process of its own; its exit status is what `judge` makes of the result.
class Recorder {
 public:
  Recorder(Arguments argv,
           const std::function<bool(const launch::RunResult&)>& judge,
           const Change& change = {})
      : pid_(fork()) {
    if (pid_ != 0) {
      return;
    }
    auto options = blind_options(std::move(argv));
    options.open = [](std::int32_t pid) -> Result<std::unique_ptr<ProcessSource>> {
      auto door = os::LiveProcess::open(pid);
      if (!door) {
        return door.error();
      }
      return std::unique_ptr<ProcessSource>(std::move(*door));
    };
    options.record_loads = true;
    if (change) {
      change(options);
    }
    const auto result = launch::run_command(options);
    _exit(result && judge(*result) ? 0 : 1);
  }

  ~Recorder() { end(); }

  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  pid_t pid() const { return pid_; }

  int end() {
    int status = 0;
    waitpid(pid_, &status, 0);
    return status;
  }

 private:
  pid_t pid_;
};

// The program above, and what it has written.
class Watcher {
 public:
  explicit Watcher(const std::string& name)
      : program_(compile("gate_watching", watching_source, "cc -O1")),
        mark_(write_file(name, "", 0644)) {}

  Arguments argv() const { return {program_, mark_}; }

  Arguments argv_with(const std::string& word) const { return {program_, mark_, word}; }

  std::string words() const { return read_file(mark_); }

  // All that it writes, when that has come.
  std::string words_with(const std::string& word) const {
    for (int i = 0; i < 600 && words().find(word) == std::string::npos; ++i) {
      usleep(50'000);
    }
    return words();
  }

 private:
  std::string program_, mark_;
};

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

TEST_CASE("run gate: who lets go by a signal leaves the loader's code as it was",
          "[live][run][gate]") {
  const int number = GENERATE(SIGINT, SIGTERM, SIGHUP);
  CAPTURE(number);
  const Watcher watcher("gate_signal.txt");
  Recorder recorder(watcher.argv(), [&](const launch::RunResult& result) {
    return result.interrupted_by == number && !result.exit_status;
  });
  REQUIRE(watcher.words_with("ours") == "ours\n");
  kill(recorder.pid(), number);  // is the command's, or was given to it by the terminal
  usleep(800'000);
  CHECK(watcher.words() == "ours\n");
  kill(recorder.pid(), number);
  CHECK(recorder.end() == 0);
  CHECK(watcher.words_with("opened") == "ours\nsame\nopened\n");
}

TEST_CASE("run gate: who looks once and lets go leaves the loader's code as it was",
          "[live][run][gate]") {
  const bool in_vfork = GENERATE(false, true);
  CAPTURE(in_vfork);
  const Watcher watcher("gate_at.txt");
  Recorder recorder(
      in_vfork ? watcher.argv_with("vfork") : watcher.argv(),
      [](const launch::RunResult& result) { return result.exit_status == 0; },
      [](launch::RunOptions& options) {
        options.at = launch::At::seconds;
        options.after = std::chrono::milliseconds(1500);
      });
  CHECK(watcher.words_with("opened") == "ours\nsame\nopened\n");
  CHECK(recorder.end() == 0);
}

TEST_CASE("run gate: when we are killed the loader's code comes back", "[live][run][gate]") {
  const Watcher watcher("gate_killed.txt");
  Recorder recorder(watcher.argv(), [](const launch::RunResult&) { return false; });
  REQUIRE(watcher.words_with("ours") == "ours\n");
  usleep(100'000);  // it stands in its loop, not in a stop of ours
  kill(recorder.pid(), SIGKILL);
  CHECK(watcher.words_with("opened") == "ours\nsame\nopened\n");
}

// Not even a debugger can stop who waits in vfork for its child to exec or to end.
TEST_CASE("run gate: who lets go of one that cannot be stopped leaves the loader's code as it was",
          "[live][run][gate]") {
  const bool followed = GENERATE(true, false);
  CAPTURE(followed);
  const Watcher watcher("gate_vfork.txt");
  Recorder recorder(
      watcher.argv_with("vfork"),
      [](const launch::RunResult& result) { return result.interrupted_by == SIGTERM; },
      [&](launch::RunOptions& options) { options.follow_children = followed; });
  REQUIRE(watcher.words_with("ours") == "ours\n");
  kill(recorder.pid(), SIGTERM);
  usleep(800'000);
  kill(recorder.pid(), SIGTERM);
  CHECK(recorder.end() == 0);
  CHECK(watcher.words_with("opened") == "ours\nsame\nopened\n");
}

TEST_CASE("run gate: a child that outlives us has the loader's code as it was",
          "[live][run][gate]") {
  const bool followed = GENERATE(true, false);
  CAPTURE(followed);
  const Watcher watcher("gate_child.txt");
  Recorder recorder(
      watcher.argv_with("child"),
      [](const launch::RunResult& result) { return result.exit_status == 0; },
      [&](launch::RunOptions& options) { options.follow_children = followed; });
  CHECK(recorder.end() == 0);
  CHECK(watcher.words_with("opened") == "same\nopened\n");
}

#endif
