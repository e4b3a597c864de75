// Memory that is not what its mapping says: patched code, and very many mappings.

#include "proc/smaps.hpp"
#include "support/c_programs.hpp"
#include "support/catch.hpp"
#include "support/places.hpp"
#include "support/python_target.hpp"
#include "support/run_program.hpp"
#include "support/scenario.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>

namespace tracso::test {
namespace {

using Json = nlohmann::json;

// Writes to as many pages of a library's code as its argument says, as a tracer's breakpoints do.
constexpr const char* library = R"(
__asm__(".text\n.balign 4096\n.hidden pages\n.globl pages\npages: .skip 32768, 0x90\n.balign 4096\n");
extern char pages[] __attribute__((visibility("hidden")));
char *code(void) { return pages; }
)";
constexpr const char* program = R"(
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
extern char *code(void);
int main(int argc, char **argv) {
  char *pages = code();
  int n = argc > 1 ? atoi(argv[1]) : 0;
  volatile char sum = 0;
  for (int i = 0; i < 8; ++i) sum += pages[i << 12];
  mprotect(pages, 32768, PROT_READ | PROT_WRITE | PROT_EXEC);
  for (int i = 0; i < n; ++i) pages[i << 12] = 0x90;
  mprotect(pages, 32768, PROT_READ | PROT_EXEC);
  puts("ready"); fflush(stdout); getchar();
  return 0;
}
)";

struct Dirty {
  std::uint64_t libraries = 0, library = 0;
};

Dirty with_patched_pages(const Workshop& shop, int pages) {
  Child child({shop.path("patches"), std::to_string(pages)});
  REQUIRE(child.line() == "ready");
  const std::string pid = std::to_string(child.pid());
  const ProgramRun ran = run_tracso({"stat", "--json", "-p", pid});
  REQUIRE(ran.status == 0);
  const Json memory = Json::parse(ran.out).at("memory");
  const Json node = node_named(document({pid}), "libpatched.so");
  REQUIRE(node.is_object());
  return {memory.at("by_class").at("libraries").at("dirty").get<std::uint64_t>(),
          node.at("private").get<std::uint64_t>()};
}

TEST_CASE("stat cases: pages of code that were written to are the library's, and dirty",
          "[live][stat]") {
  const Workshop shop;
  shop.write("patched.c", library);
  shop.write("patches.c", program);
  REQUIRE(shop.run(
      "gcc -shared -fPIC -Wl,-soname,libpatched.so patched.c -o libpatched.so && "
      "gcc patches.c -o patches -L. -lpatched -Wl,-rpath,$PWD && sync libpatched.so patches"));
  const Dirty none = with_patched_pages(shop, 0);
  for (const int pages : {2, 5}) {
    INFO(pages);
    const Dirty patched = with_patched_pages(shop, pages);
    const auto bytes = static_cast<std::uint64_t>(pages) * 4096;
    CHECK(patched.libraries - none.libraries == bytes);
    // Nobody else has the file: its pages are private already, and stay that as copies.
    CHECK(patched.library >= bytes);
  }
}

// Every second page may not be written to, so that the kernel cannot join them.
constexpr const char* many = R"(
#include <stdio.h>
#include <sys/mman.h>
int main(void) {
  long made = 0;
  char *at = mmap(0, 20000 << 12, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (long i = 0; i < 20000; ++i) { at[i << 12] = 1; if (i % 2) made += mprotect(at + (i << 12), 4096, PROT_READ) == 0; }
  printf("%ld\n", made); fflush(stdout); getchar();
  return 0;
}
)";

TEST_CASE("stat cases: 20,000 mappings, and none is missing", "[live][stat]") {
  const Workshop shop;
  shop.write("many.c", many);
  REQUIRE(shop.run("gcc many.c -o many"));
  Child child({shop.path("many")});
  const auto made = child.line();
  REQUIRE(made);
  if (*made != "10000") {
    WARN("NOT TRIED: this kernel gives a process fewer than 20,000 mappings");
    return;
  }
  const std::string pid = std::to_string(child.pid());
  const ProgramRun ran = run_tracso({"stat", "--json", "-p", pid});
  INFO(ran.err);
  REQUIRE(ran.status == 0);
  const Json other = Json::parse(ran.out).at("memory").at("by_class").at("other");
  CHECK(other.at("dirty").get<std::uint64_t>() >= 20000ULL * 4096);
  const auto costs = proc::parse_smaps(read_file("/proc/" + pid + "/smaps"));
  REQUIRE(costs);
  CHECK(costs->size() >= 20000);
  std::uint64_t dirty = 0, ours = 0;
  for (const auto& cost : *costs) {
    dirty += cost.dirty;
  }
  const Json memory = Json::parse(ran.out).at("memory");
  for (const Json& one : memory.at("by_class")) {
    ours += one.at("dirty").get<std::uint64_t>();
  }
  CHECK(ours == dirty);
  CHECK(run_tracso({pid}).status == 0);
}

// Bytes of the page tables of a process, which the kernel makes for pages that are only read, too.
std::uint64_t page_tables_of(const std::string& pid) {
  const std::string status = read_file("/proc/" + pid + "/status");
  const std::string key = "VmPTE:";
  const std::size_t at = status.find(key);
  REQUIRE(at != std::string::npos);
  return std::stoull(status.substr(at + key.size())) * 1024;
}

TEST_CASE("stat cases: a Python's memory that it never touched is not touched by a look at it",
          "[live][stat]") {
  const std::string room =
      "import ctypes, sys\n"
      "map = ctypes.CDLL(None).mmap\n"
      "map.restype, map.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_size_t] + "
      "[ctypes.c_int] * 3 + [ctypes.c_long]\n"
      "at = map(None, 1 << 30, 3, 0x4022, -1, 0)\n"  // private, anonymous, not reserved
      "ctypes.memset(at, 1, 1)\n"
      "print('ready', flush=True)\n"
      "sys.stdin.readline()\n";
  Child child({pythons().front().program, "-c", room});
  REQUIRE(child.line() == "ready");
  REQUIRE(child.rests());
  const std::string pid = std::to_string(child.pid());
  const std::uint64_t before = page_tables_of(pid);
  const ProgramRun ran = run_tracso({"stat", "--json", "-p", pid});
  REQUIRE(ran.status == 0);
  CHECK(page_tables_of(pid) < before + 256 * 1024);
  const Json python = Json::parse(ran.out).at("memory").at("by_class").at("python");
  CHECK(python.at("resident").get<std::uint64_t>() > 0);
}

}  // namespace

// 64 MB in memory, of which 2 MB are used again and again, by a program that calls a library of its
// own once. (The pages of a library that others use too are marked by them; binding at a first call
// looks into all libraries.)
constexpr const char* idler = R"(
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
int idle(void);
int main(void) {
  int once = idle();
  size_t all = 64u << 20, used = 2u << 20;
  char *memory = mmap(0, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  madvise(memory, all, MADV_NOHUGEPAGE);
  memset(memory, 1, all);
  puts("ready"); fflush(stdout);
  for (;;) { for (size_t i = once; i < used; i += 4096) ++memory[i]; usleep(10000); }
}
)";

TEST_CASE("stat --used: what a process touches within a time, of what it has in memory",
          "[live][stat][memory]") {
  const Workshop shop;
  shop.write("idler.c", idler);
  shop.write("idle.c", "int idle(void) { return 0; }\n");
  REQUIRE(
      shop.run("gcc -shared -fPIC -o libidle.so idle.c && "
               "gcc -O1 -o idler idler.c -L. -lidle -Wl,-rpath,$PWD,-z,now"));
  Child child({shop.path("idler")});
  REQUIRE(child.line() == "ready");
  const std::string pid = std::to_string(child.pid());
  const ProgramRun ran = run_tracso({"stat", "--json", "--used", "--for", "0.5", "-p", pid});
  INFO(ran.out << ran.err);
  REQUIRE(ran.status == 0);
  const Json all = Json::parse(ran.out);
  const Json& used = all.at("used");
  REQUIRE(used.is_object());
  constexpr std::uint64_t megabyte = 1U << 20U;
  CHECK(used.at("resident").get<std::uint64_t>() >= 64 * megabyte);
  CHECK(used.at("used").get<std::uint64_t>() >= 2 * megabyte);
  CHECK(used.at("used").get<std::uint64_t>() < 6 * megabyte);
  CHECK(used.at("window_ns").get<std::int64_t>() >= 500'000'000);
  bool there = false;
  for (const Json& library : used.at("libraries")) {
    if (library.at("name") == "libidle.so") {
      there = true;
      CHECK(library.at("resident") > 0);
      CHECK(library.at("used") == 0);
    }
  }
  CHECK(there);
  CHECK(used.at("untouched").get<int>() >= 1);
  CHECK(contains(all.at("notices").dump(), "used-marks-cleared"));
  CHECK(run_tracso({"stat", "--used", "-p", pid}).status == 2);
  CHECK(run_tracso({"stat", "--used", "/bin/true"}).status == 2);
}

}  // namespace tracso::test
