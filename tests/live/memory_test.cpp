// Memory of a whole process by use, as `tracso stat -p`, the report and its document tell it: sums
// must be those of the kernel, and what is put into a class is found there. And the baselines of
// the report.

#include "proc/smaps.hpp"
#include "support/c_programs.hpp"
#include "support/catch.hpp"
#include "support/places.hpp"
#include "support/python_target.hpp"
#include "support/scenario.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>

namespace tracso::test {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t megabyte = 1024 * 1024;

struct Sums {
  std::uint64_t mapped = 0, resident = 0, dirty = 0, swapped = 0;
  bool operator==(const Sums&) const = default;
};

Sums sums_of_kernel(pid_t pid) {
  const auto costs = proc::parse_smaps(read_file("/proc/" + std::to_string(pid) + "/smaps"));
  REQUIRE(costs);
  Sums sums;
  for (const auto& cost : *costs) {
    sums.mapped += cost.mapping.end - cost.mapping.start;
    sums.resident += cost.resident + cost.huge;
    sums.dirty += cost.dirty;
    sums.swapped += cost.swapped;
  }
  return sums;
}

Sums sums_of(const Json& uses) {
  Sums sums;
  for (const Json& use : uses) {
    sums.mapped += use.at("mapped").get<std::uint64_t>();
    sums.resident += use.at("resident").get<std::uint64_t>();
    sums.dirty += use.at("dirty").get<std::uint64_t>();
    sums.swapped += use.at("swapped").get<std::uint64_t>();
  }
  return sums;
}

Json memory_of(pid_t pid) {
  const ProgramRun ran = run_tracso({"stat", "--json", "-p", std::to_string(pid)});
  INFO(ran.err);
  REQUIRE(ran.status == 0);
  const Json all = Json::parse(ran.out, nullptr, false);
  REQUIRE(all.is_object());
  return all.at("memory");
}

// Stopped, so that nothing of it changes between the kernel's figures and ours.
void stop(pid_t pid) {
  REQUIRE(::kill(pid, SIGSTOP) == 0);
  int status = 0;
  REQUIRE(::waitpid(pid, &status, WUNTRACED) == pid);
}

void check_sums(const std::vector<std::string>& program) {
  INFO(program.front());
  Child child(program);
  while (true) {
    const auto line = child.line();
    REQUIRE(line);
    if (line->find("ready") != std::string::npos) {
      break;
    }
  }
  stop(child.pid());
  memory_of(child.pid());  // pages that a look brings in are in by now
  // Memory that the kernel takes back meanwhile would differ: then both looks are made again.
  Sums before, ours;
  for (int i = 0; i < 5 && (i == 0 || ours != before); ++i) {
    before = sums_of_kernel(child.pid());
    ours = sums_of(memory_of(child.pid()).at("by_class"));
  }
  CHECK(ours.resident == before.resident);
  CHECK(ours.dirty == before.dirty);
  CHECK(ours.mapped == before.mapped);
  CHECK(ours.swapped == before.swapped);
  ::kill(child.pid(), SIGCONT);
}

TEST_CASE("memory: the classes of a Python with numpy sum to smaps to the byte", "[live][memory]") {
  check_sums({"/usr/bin/python3",
              "-c",
              "import numpy, ssl, threading, sys\nkeep = numpy.ones(1 << 20)\n"
              "threading.Thread(target=threading.Event().wait, daemon=True).start()\n"
              "print('ready', flush=True); sys.stdin.read()"});
}

TEST_CASE("memory: the classes of a node sum to smaps to the byte", "[live][memory]") {
  if (::access("/usr/bin/node", X_OK) != 0) {
    WARN("skipped: there is no /usr/bin/node here");
    return;
  }
  check_sums({"/usr/bin/node", "-e", "process.stdin.resume(); console.log('ready')"});
}

TEST_CASE("memory: the classes of a gdb sum to smaps to the byte", "[live][memory]") {
  if (::access("/usr/bin/gdb", X_OK) != 0) {
    WARN("skipped: there is no /usr/bin/gdb here");
    return;
  }
  check_sums({"/usr/bin/gdb",
              "-nx",
              "-q",
              "-iex",
              "set debuginfod enabled off",
              "-ex",
              "python print('ready', flush=True)",
              "-ex",
              "python import sys; sys.stdin.read()"});
}

// What is put into a class is found in that class.
constexpr const char* source = R"(
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>
static void *arena(void *x) { for (int i = 0; i < 128; ++i) memset(malloc(64 << 10), 1, 64 << 10); puts("ready"); fflush(stdout); pause(); return x; }
static void deep(int n) { char page[4096]; memset(page, n, sizeof page); if (n) deep(n - 1); __asm__ volatile("" : : "r"(page) : "memory"); }
static void *stacked(void *x) { deep(512); puts("ready"); fflush(stdout); pause(); return x; }
int main(int argc, char **argv) {
  prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
  pthread_t t;
  long n = argc > 2 ? atol(argv[2]) : 0;
  const char *what = argc > 1 ? argv[1] : "";
  if (!strcmp(what, "arena")) { pthread_create(&t, 0, arena, 0); pause(); }
  if (!strcmp(what, "stack")) { pthread_create(&t, 0, stacked, 0); pause(); }
  if (!strcmp(what, "heap")) for (long i = 0; i < n * 16; ++i) memset(malloc(64 << 10), 1, 64 << 10);
  if (!strcmp(what, "other")) memset(mmap(0, n << 20, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 1, n << 20);
  if (!strcmp(what, "shared")) memset(mmap(0, n << 20, 3, MAP_SHARED | MAP_ANONYMOUS, -1, 0), 1, n << 20);
  if (!strcmp(what, "file")) { FILE *f = fopen(argv[3], "w+"); ftruncate(fileno(f), n << 20); memset(mmap(0, n << 20, 3, MAP_SHARED, fileno(f), 0), 1, n << 20); }
  if (argc < 2 || strcmp(argv[argc - 1], "end")) { puts("ready"); fflush(stdout); getchar(); }
  return 0;
}
)";

struct Lab {
  Workshop shop;

  Lab() {
    shop.write("subject.c", source);
    REQUIRE(shop.run("gcc -w -O0 subject.c -o subject -lpthread"));
  }

  std::uint64_t resident(std::vector<std::string> words, const char* name) const {
    words.insert(words.begin(), shop.path("subject"));
    Child child(words);
    REQUIRE(child.line() == "ready");
    const Json memory = memory_of(child.pid());
    return memory.at("by_class").at(name).at("resident").get<std::uint64_t>();
  }
};

TEST_CASE("memory: 8 MB of each kind are found in the class of that kind", "[live][memory]") {
  const Lab lab;

  const struct {
    std::vector<std::string> words;
    const char* name;
    std::uint64_t least, most;
  } kinds[] = {{{"heap", "8"}, "heap", 8 * megabyte, 9 * megabyte},
               {{"arena"}, "heap", 8 * megabyte, 9 * megabyte},
               {{"stack"}, "stacks", 2 * megabyte, 3 * megabyte},
               {{"other", "8"}, "other", 8 * megabyte, 9 * megabyte},
               {{"shared", "8"}, "shared", 8 * megabyte, 8 * megabyte},
               {{"file", "8", lab.shop.path("data")}, "files", 8 * megabyte, 9 * megabyte}};

  for (const auto& kind : kinds) {
    INFO(kind.words.front());
    const std::uint64_t bytes = lab.resident(kind.words, kind.name);
    CHECK(bytes >= kind.least);
    CHECK(bytes <= kind.most);
  }
}

TEST_CASE("memory: the document of a trace has the same classes, and their sum", "[live][memory]") {
  Child python({"/usr/bin/python3",
                "-c",
                "import numpy, sys; print('ready', flush=True); sys.stdin.read()"});
  REQUIRE(python.line() == "ready");
  stop(python.pid());
  const std::string pid = std::to_string(python.pid());
  document({pid});
  Sums before, ours, whole;
  for (int i = 0; i < 5 && (i == 0 || ours != before); ++i) {
    before = sums_of_kernel(python.pid());
    const Json memory = document({pid}).at("memory");
    REQUIRE(memory.is_object());
    ours = sums_of(memory.at("by_class"));
    whole = sums_of(Json::array({memory}));
    CHECK(memory.at("by_class").at("python").at("resident").get<std::uint64_t>() > megabyte);
  }
  CHECK(ours == before);
  CHECK(ours == whole);
  ::kill(python.pid(), SIGCONT);
}

TEST_CASE("memory: the report has it where memory ranks, and only there", "[live][memory]") {
  Child python(
      {"/usr/bin/python3", "-c", "import sys; print('ready', flush=True); sys.stdin.read()"});
  REQUIRE(python.line() == "ready");
  const std::string pid = std::to_string(python.pid());
  const auto ranked = run_tracso({"--by", "private", pid});
  CHECK(ranked.status == 0);
  CHECK(contains(ranked.out, "Memory of the process"));
  CHECK(contains(ranked.out, "Python objects"));
  CHECK_FALSE(contains(run_tracso({pid}).out, "Memory of the process"));
  CHECK(document({"/bin/ls"}).at("memory").is_null());
}

TEST_CASE("memory: a saved document has it, and a recording; an older one says what it cannot tell",
          "[live][memory]") {
  const TemporaryFolder folder;
  Child python(
      {"/usr/bin/python3", "-c", "import sys; print('ready', flush=True); sys.stdin.read()"});
  REQUIRE(python.line() == "ready");
  REQUIRE(python.rests());
  const std::string pid = std::to_string(python.pid());
  const Json live = document({pid});
  write_file(folder / "saved.json", live.dump());
  CHECK(document({"--from", folder / "saved.json"}).at("memory") == live.at("memory"));
  REQUIRE(run_tracso({"record", pid, "-o", folder / "it.tar.gz"}).status == 0);
  const Json replayed = document({"--from", folder / "it.tar.gz"});
  const auto python_of = [](const Json& all) {
    return all.at("memory").at("by_class").at("python");
  };
  const auto unknown = [](const Json& all) {
    const auto codes = notice_codes(all);
    return std::count(codes.begin(), codes.end(), "python-memory-unknown");
  };
  CHECK(python_of(replayed) == python_of(live));
  CHECK(unknown(replayed) == 0);
  const Json older = document({"--from", tests_file("recorded/python-ssl.tar.gz")});
  CHECK(python_of(older).at("resident") == 0);
  CHECK(unknown(older) == 1);
}

TEST_CASE("baseline: of a process, kept to and not", "[live][memory][baseline]") {
  const Lab lab;
  const std::string file = lab.shop.path("base.json");
  const auto held = [&](const char* size, std::vector<std::string> ours) {
    Child child({lab.shop.path("subject"), "other", size});
    REQUIRE(child.line() == "ready");
    ours.push_back(std::to_string(child.pid()));
    return run_tracso(ours);
  };
  const auto saved = held("32", {"--save-baseline", file});
  INFO(saved.err);
  REQUIRE(saved.status == 0);
  CHECK(contains(read_file(file), "\"kind\": \"baseline\""));
  CHECK(held("32", {"--baseline", file}).status == 0);
  const auto grown = held("40", {"--baseline", file});
  CHECK(grown.status == 1);
  CHECK(contains(grown.err, "failed: regression:rss"));
  CHECK(contains(grown.err, "failed: regression:dirty"));
  CHECK(contains(grown.out, "Most depended-on libraries"));  // the report is there all the same
  CHECK(held("40", {"--baseline", file, "--fail-on-regression", "50%"}).status == 0);
  CHECK(held("40", {"--baseline", file, "--tolerance", "rss=50%", "--tolerance", "dirty=50%"})
            .status == 0);
  // One file for both: `stat` knows the same figures, and more.
  CHECK(run_tracso({"stat",
                    "--baseline",
                    file,
                    "--runs",
                    "1",
                    lab.shop.path("subject"),
                    "other",
                    "40",
                    "end"})
            .status == 1);
  CHECK(held("32", {"--baseline", lab.shop.path("none.json")}).status == 2);
}

TEST_CASE("baseline: a library that is new fails, of a file and of a command",
          "[live][memory][baseline]") {
  const TemporaryFolder folder;
  const std::string file = folder / "base.json";
  REQUIRE(run_tracso({"--save-baseline", file, "/bin/true"}).status == 0);
  CHECK(run_tracso({"--baseline", file, "/bin/true"}).status == 0);
  const auto more = run_tracso({"--baseline", file, "/bin/ls"});
  CHECK(more.status == 1);
  CHECK(contains(more.err, "failed: regression:new-libs"));
  REQUIRE(run_tracso({"--save-baseline", file, "--run", "/bin/true"}).status == 0);
  CHECK(run_tracso({"--baseline", file, "--run", "/bin/true"}).status == 0);
  CHECK(run_tracso({"--baseline", file, "--run", "/bin/ls", "/dev/null"}).status == 1);
  CHECK(contains(read_file(file), "\"dirty\": "));
  CHECK_FALSE(contains(read_file(file), "\"dirty\": null"));
}

}  // namespace
}  // namespace tracso::test
