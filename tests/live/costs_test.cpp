// Resident and private bytes of real processes: known amounts put into a library, and sums that
// must be those of the kernel.

#include "base/text.hpp"
#include "proc/smaps.hpp"
#include "support/c_programs.hpp"
#include "support/catch.hpp"
#include "support/python_target.hpp"
#include "support/scenario.hpp"

#include <fmt/format.h>

#include <map>

namespace tracso::test {
namespace {

constexpr std::uint64_t mebibyte = 1024 * 1024;
constexpr std::uint64_t page = 4096;

constexpr const char* library = R"(
#include <string.h>
static char empty[4 << 20];
char filled[1 << 20] = {1};
void touch_empty(void) { memset(empty, 1, 2 << 20); }
int read_filled(void) { int sum = 0; for (int i = 0; i < 1 << 20; i += 4096) sum += filled[i]; return sum; }
int read_empty(void) { int sum = 0; for (int i = 2 << 20; i < 4 << 20; i += 4096) sum += empty[i]; return sum; }
extern char _end[] __attribute__((visibility("hidden")));
void *end_of_empty(void) { return _end; }
)";

constexpr const char* program = R"(
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
int main(int argc, char **argv) {
  prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
  // The kernel goes downwards: the library comes to lie below this, which leaves room behind it.
  char *reserve = mmap(0, 64 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  void *handle = dlopen(argv[1], RTLD_NOW);
  char line[64];
  if (handle) ((int (*)(void))dlsym(handle, "read_filled"))();
  puts(handle ? "ready" : dlerror());
  fflush(stdout);
  while (fgets(line, sizeof line, stdin)) {
    if (line[0] == 'b') ((void (*)(void))dlsym(handle, "touch_empty"))();
    if (line[0] == 'r') ((int (*)(void))dlsym(handle, "read_empty"))();
    if (line[0] == 'n') {
      uintptr_t end = (uintptr_t)((void *(*)(void))dlsym(handle, "end_of_empty"))();
      munmap(reserve, 64 << 20);
      char *beside = mmap((void *)((end + 4095) & ~4095ul), 8 << 20, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
      if (beside == MAP_FAILED) { puts("no room"); fflush(stdout); continue; }
      memset(beside, 1, 8 << 20);
    }
    puts("done");
    fflush(stdout);
  }
}
)";

struct Bytes {
  std::uint64_t resident = 0, own = 0;
};

class Subject {
 public:
  Subject() {
    workshop_.write("library.c", library);
    workshop_.write("program.c", program);
    REQUIRE(workshop_.run("gcc -O0 -shared -fPIC library.c -o libsubject.so"));
    REQUIRE(workshop_.run("gcc program.c -o program -ldl"));
    child_.emplace(
        std::vector<std::string>{workshop_.path("program"), workshop_.path("libsubject.so")});
    REQUIRE(child_->line() == "ready");
  }

  std::string tell(const std::string& what) {
    child_->write(what + "\n");
    return child_->line().value_or("(nothing)");
  }

  Bytes look() const {
    const auto all = document({std::to_string(child_->pid())});
    const auto node = node_named(all, "libsubject.so");
    REQUIRE_FALSE(node.is_null());
    return {node.at("resident").get<std::uint64_t>(), node.at("private").get<std::uint64_t>()};
  }

 private:
  Workshop workshop_;
  std::optional<Child> child_;
};

TEST_CASE("costs: what a library touches is counted to the page", "[live][costs]") {
  Subject subject;
  const Bytes before = subject.look();
  REQUIRE(subject.tell("b") == "done");
  const Bytes bss = subject.look();
  // The array may begin in the middle of a page that was there already.
  CHECK(bss.own - before.own >= 2 * mebibyte - page);
  CHECK(bss.own - before.own <= 2 * mebibyte + page);
  CHECK(bss.resident - before.resident == bss.own - before.own);
}

TEST_CASE("costs: memory that is only read stays the kernel's zero page", "[live][costs]") {
  Subject subject;
  REQUIRE(subject.tell("b") == "done");
  const Bytes before = subject.look();
  REQUIRE(subject.tell("r") == "done");
  CHECK(subject.look().own <= before.own + page);
}

TEST_CASE("costs: memory mapped right behind a library is not the library's", "[live][costs]") {
  Subject subject;
  REQUIRE(subject.tell("b") == "done");
  const Bytes before = subject.look();
  REQUIRE(subject.tell("n") == "done");
  REQUIRE(subject.tell("r") == "done");
  const Bytes after = subject.look();
  CHECK(after.own >= before.own);
  CHECK(after.own <= before.own + page);
}

// By device and inode, without .bss: what smaps says of the file's own mappings.
std::map<std::string, std::uint64_t> bytes_of_files(pid_t pid) {
  const auto target = live_target(pid);
  REQUIRE(target);
  const auto text = target->process->read("smaps");
  const auto costs = text ? proc::parse_smaps(*text) : text.error();
  REQUIRE(costs);
  std::map<std::string, std::uint64_t> files;
  for (const auto& cost : *costs) {
    if (cost.mapping.has_file()) {
      files[cost.mapping.name] += cost.resident;
    }
  }
  return files;
}

TEST_CASE("costs: a real process' libraries take what smaps says, and packages sum to it",
          "[live][costs]") {
  Child python({"/usr/bin/python3",
                "-c",
                "import numpy, ssl, sqlite3, time; print('ready', flush=True); time.sleep(600)"});
  REQUIRE(python.line() == "ready");
  document({std::to_string(python.pid())});  // pages that a look brings in are in by now
  const auto all = document({std::to_string(python.pid())});
  const auto files = bytes_of_files(python.pid());
  std::uint64_t resident = 0;
  std::uint64_t own = 0;
  std::size_t seen = 0;
  for (const auto& node : all.at("nodes")) {
    if (node.at("loaded") != true) {
      continue;
    }
    INFO(node.dump());
    const auto file = files.find(node.at("path").get<std::string>());
    REQUIRE(file != files.end());
    const auto bytes = node.at("resident").get<std::uint64_t>();
    CHECK(bytes >= file->second);
    CHECK(bytes <= file->second + mebibyte);  // its .bss
    // What is private changes whenever another process maps or leaves the file.
    CHECK(node.at("private").get<std::uint64_t>() <= bytes);
    if (node.at("kind") != "executable") {
      resident += bytes;
      own += node.at("private").get<std::uint64_t>();
      ++seen;
    }
  }
  CHECK(seen > 20);
  CHECK(all.at("totals").at("resident_bytes") == resident);
  CHECK(all.at("totals").at("private_bytes") == own);
  std::uint64_t packages = 0;
  for (const auto& package : all.at("packages")) {
    packages += package.at("resident_bytes").get<std::uint64_t>();
  }
  CHECK(packages == resident);
}

TEST_CASE("costs: relocations are those of the files, running or not", "[live][costs]") {
  const auto file = document({"/usr/bin/python3"});
  const auto node = node_named(file, "libc.so.6");
  REQUIRE_FALSE(node.is_null());
  CHECK(node.at("relocations").get<std::uint64_t>() >= page);
  CHECK(node.at("relocations").get<std::uint64_t>() % page == 0);
  CHECK(node.at("resident").is_null());
  Child python(
      {"/usr/bin/python3", "-c", "import time; print('ready', flush=True); time.sleep(9)"});
  REQUIRE(python.line() == "ready");
  const auto live = document({std::to_string(python.pid())});
  CHECK(node_named(live, "libc.so.6").at("relocations") == node.at("relocations"));
}

TEST_CASE("costs: --by ranks, and refuses where nothing was measured", "[live][costs]") {
  Child python({"/usr/bin/python3",
                "-c",
                "import ssl, sqlite3, time; print('ready', flush=True); time.sleep(600)"});
  REQUIRE(python.line() == "ready");
  const std::string pid = std::to_string(python.pid());
  const auto report = run_tracso({"--by", "resident", pid});
  CHECK(report.status == 0);
  CHECK(contains(report.out, "resident   private"));
  const auto by_private = document({"--by", "private", pid});
  CHECK(by_private.at("ranked_by") == "private");
  std::uint64_t before = UINT64_MAX;
  for (const auto& package : by_private.at("packages")) {
    if (package.at("name") != "(unattributed / system)") {
      const auto bytes = package.at("private_bytes").get<std::uint64_t>();
      CHECK(bytes <= before);
      before = bytes;
    }
  }
  const auto file = run_tracso({"--by", "resident", "/bin/ls"});
  CHECK(file.status == 2);
  CHECK(contains(file.err, "nothing runs"));
}

}  // namespace
}  // namespace tracso::test
