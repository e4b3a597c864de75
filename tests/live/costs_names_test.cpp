// What a library takes, where its name misleads: deleted, replaced, named like a deleted one, with
// a newline; where its code is no file any more; and against the pages that the loader writes to.

#include "base/text.hpp"
#include "proc/smaps.hpp"
#include "support/c_programs.hpp"
#include "support/catch.hpp"
#include "support/python_target.hpp"
#include "support/run_program.hpp"
#include "support/scenario.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace tracso::test {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t page = 4096, kilobyte = 1024;

// Each has its own number of pages of data, and writes to all of them.
constexpr const char* library = R"(
char filled[PAGES * 4096] = {1};
void touch(void) { for (int i = 0; i < PAGES; ++i) filled[i * 4096] = (char)i; }
)";

constexpr const char* program = R"(
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv) {
  for (int i = 1; i < argc; ++i) {
    void *handle = dlopen(argv[i], RTLD_NOW);
    if (!handle) { puts(dlerror()); return 1; }
    ((void (*)(void))dlsym(handle, "touch"))();
  }
  puts("ready");
  fflush(stdout);
  getchar();
}
)";

std::uint64_t number(const Json& value) {
  REQUIRE(value.is_number());
  return value.get<std::uint64_t>();
}

struct Own {
  std::uint64_t all = 0, dirty = 0;
};

// What is private of the mappings that `is_its` says.
template <class IsIts>
Own own_bytes(pid_t pid, const IsIts& is_its) {
  const auto costs = proc::parse_smaps(read_file("/proc/" + std::to_string(pid) + "/smaps"));
  REQUIRE(costs);
  Own own;
  for (const auto& cost : *costs) {
    if (is_its(cost.mapping)) {
      own.all += cost.private_bytes();
      own.dirty += cost.dirty;
    }
  }
  return own;
}

TEST_CASE("costs: odd names of files are five libraries with their own bytes", "[live][costs]") {
  const Workshop shop;
  shop.write("library.c", library);
  shop.write("program.c", program);
  REQUIRE(shop.run("gcc program.c -o program -ldl"));
  const std::vector<std::pair<std::string, std::string>> all{{"plain", "plain.so"},
                                                             {"deleted", "deleted.so"},
                                                             {"replaced", "replaced.so"},
                                                             {"odd", "odd (deleted)"},
                                                             {"newline", "new\nline.so"}};
  std::vector<std::string> argv{shop.path("program")};
  std::uint64_t pages = 0;
  for (const auto& [soname, file] : all) {
    pages += 10;
    REQUIRE(shop.run(
        fmt::format("gcc -O0 -shared -fPIC -DPAGES={} library.c -Wl,-soname,lib{}.so -o '{}'",
                    pages,
                    soname,
                    file)));
    argv.push_back(shop.path(file));
  }
  Child child(argv);
  REQUIRE(child.line() == "ready");
  REQUIRE(shop.run("rm deleted.so && cp plain.so other.so && mv other.so replaced.so"));
  document({std::to_string(child.pid())});  // pages that a look brings in are in by now
  const Json told = document({std::to_string(child.pid())});
  std::set<std::uint64_t> files;
  pages = 0;
  for (const auto& [soname, file] : all) {
    pages += 10;
    INFO(soname);
    const Json node = node_named(told, "lib" + soname + ".so");
    REQUIRE_FALSE(node.is_null());
    const std::uint64_t inode = number(node.at("inode"));
    const Own own = own_bytes(child.pid(), [&](const Mapping& one) { return one.inode == inode; });
    files.insert(inode);
    CHECK(node.at("state") == (soname == "deleted" || soname == "replaced" ? soname : "current"));
    CHECK(number(node.at("private")) == own.all);
    CHECK(own.dirty >= pages * page);
    CHECK(own.all < (pages + 10) * page);  // its code and tables too
  }
  CHECK(files.size() == all.size());
  child.write("\n");
  CHECK(child.wait() == 0);
}

TEST_CASE("costs: pages that the loader writes to are the dirty ones of a real library",
          "[live][costs]") {
  Child child({"/usr/bin/python3", "-c", "import ssl; print('ready', flush=True); input()"});
  REQUIRE(child.line() == "ready");
  REQUIRE(child.rests());
  const Json told = document({std::to_string(child.pid())});
  for (const char* name : {"libcrypto.so.3", "libssl.so.3"}) {
    const Json node = node_named(told, name);
    if (node.is_null()) {
      WARN(name << " is not in this Python: not compared");
      continue;
    }
    const std::uint64_t relocations = number(node.at("relocations"));
    const std::string path = node.at("path");
    const auto dirty =
        own_bytes(child.pid(), [&](const Mapping& one) { return one.name == path; }).dirty;
    INFO(name << " relocations " << relocations << " dirty " << dirty);
    CHECK(relocations > 0);
    CHECK(dirty >= relocations);
    CHECK(dirty <= relocations + 128 * kilobyte);  // what it has written to since
  }
}

// node copies its code to memory on large pages, which are of no file.
TEST_CASE("costs: code that was moved to large pages is still the program's", "[live][costs]") {
  if (run_program({"sh", "-c", "command -v node"}).status != 0) {
    WARN("NOT TRIED: node is not here");
    return;
  }
  Child child({"node",
               "--use-largepages=on",
               "-e",
               "console.log('ready'); process.stdin.once('data', () => process.exit(0))"});
  REQUIRE(child.line() == "ready");
  const auto costs =
      proc::parse_smaps(read_file("/proc/" + std::to_string(child.pid()) + "/smaps"));
  REQUIRE(costs);
  std::uint64_t moved = 0, of_file = 0;
  for (std::size_t i = 1; i < costs->size(); ++i) {
    const auto& cost = (*costs)[i];
    const auto& before = (*costs)[i - 1].mapping;  // it takes the place of a part of the file
    const bool in_place = base_name(before.name) == "node" && before.end == cost.mapping.start;
    moved += in_place && cost.mapping.executable && !cost.mapping.has_file() ? cost.resident : 0;
    of_file += base_name(cost.mapping.name) == "node" ? cost.resident : 0;
  }
  if (moved == 0) {
    WARN("NOT TRIED: this node or kernel moves no code to large pages");
    return;
  }
  const Json node = node_named(document({std::to_string(child.pid())}), "node");
  REQUIRE_FALSE(node.is_null());
  CHECK(number(node.at("resident")) >= moved + of_file - 1024 * kilobyte);
}

}  // namespace
}  // namespace tracso::test
