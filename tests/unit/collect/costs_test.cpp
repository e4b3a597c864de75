// What a library takes, on mappings made by hand: its files, its .bss, and nothing that only lies
// beside it.

#include "tracso/snapshot.hpp"

#include "support/build_elf.hpp"
#include "support/catch.hpp"
#include "support/fake_target.hpp"

#include <fmt/format.h>

#include <algorithm>

using namespace tracso;

namespace {

constexpr std::uint64_t library_at = 0x7f0000000000;
constexpr std::uint64_t page = 4096;

struct Piece {
  std::uint64_t pages = 1;
  int inode = 0;
  std::uint64_t offset_pages = 0;
  std::uint64_t resident_pages = 0, dirty_pages = 0;
  std::string name = {};
};

// Mappings one behind the other from library_at on.
test::FakeTarget process(const std::vector<Piece>& pieces, std::uint64_t memory_pages) {
  test::FakeTarget fake;
  test::ElfSpec spec;
  spec.dynamic = {test::soname("liba.so")};
  spec.memory_bytes = memory_pages * page;
  std::string maps;
  std::string smaps;
  std::uint64_t at = library_at;
  for (const Piece& piece : pieces) {
    const std::string line = fmt::format("{:x}-{:x} r-xp {:08x} 08:01 {} {}\n",
                                         at,
                                         at + piece.pages * page,
                                         piece.offset_pages * page,
                                         piece.inode,
                                         piece.name);
    maps += line;
    smaps += line + fmt::format("Rss: {} kB\nPrivate_Clean: 0 kB\nPrivate_Dirty: {} kB\n",
                                piece.resident_pages * 4,
                                piece.dirty_pages * 4);
    at += piece.pages * page;
  }
  fake.process.texts["maps"] = maps;
  fake.process.texts["smaps"] = smaps;
  fake.process.texts["stat"] = "4711 (app) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 777 0 0";
  fake.process.links["exe"] = "/bin/app";
  fake.process.mapped[library_at] = test::build_elf(spec);
  fake.process.memory[library_at] = test::build_elf(spec);
  return fake;
}

Cost cost_of_library(test::FakeTarget& fake, bool* unknown = nullptr) {
  SnapshotOptions options;
  options.costs = true;
  const auto trace = take_snapshot(fake.target(), options);
  REQUIRE(trace);
  for (const Notice& notice : trace->notices) {
    if (unknown != nullptr && notice.code == "costs-unknown") {
      *unknown = true;
    }
  }
  for (const Node& node : trace->graph.nodes()) {
    if (object(node) != nullptr && object(node)->path.text == "/lib/liba.so") {
      return node.cost;
    }
  }
  FAIL("the library is not in the graph");
  return {};
}

Piece code(std::uint64_t pages, std::uint64_t resident, std::uint64_t dirty = 0) {
  return {pages, 12, 0, resident, dirty, "/lib/liba.so"};
}

Piece anonymous(std::uint64_t pages, std::uint64_t resident) {
  return {pages, 0, 0, resident, resident, ""};
}

std::string page_map(std::initializer_list<std::uint64_t> entries) {
  std::string bytes;
  for (const std::uint64_t entry : entries) {
    bytes.append(reinterpret_cast<const char*>(&entry), sizeof entry);
  }
  return bytes;
}

constexpr std::uint64_t own = (std::uint64_t{1} << 63) | (std::uint64_t{1} << 56);
constexpr std::uint64_t zero_page = std::uint64_t{1} << 63;

}  // namespace

TEST_CASE("costs: a library takes what its mappings take", "[collect][costs]") {
  auto fake = process({code(8, 5, 2), {2, 12, 8, 2, 2, "/lib/liba.so"}}, 10);
  const Cost cost = cost_of_library(fake);
  CHECK(cost.resident == 7 * page);
  CHECK(cost.private_bytes == 4 * page);
}

TEST_CASE("costs: its .bss is its own, what lies behind is not", "[collect][costs]") {
  auto fake = process({code(8, 5), anonymous(2, 2), anonymous(4, 4)}, 10);
  const Cost cost = cost_of_library(fake);
  CHECK(cost.resident == 7 * page);
  CHECK(cost.private_bytes == 2 * page);
}

TEST_CASE(
    "costs: where a library ends its file tells, and its memory where the file cannot be read",
    "[collect][costs]") {
  auto fake = process({code(8, 5), anonymous(2, 2), anonymous(4, 4)}, 10);
  SECTION("the file") {
    fake.process.memory.clear();
  }
  SECTION("the memory") {
    fake.process.mapped.clear();
  }
  CHECK(cost_of_library(fake).resident == 7 * page);
}

TEST_CASE("costs: smaps tells the mappings too, so maps is not read beside it",
          "[collect][costs]") {
  auto fake = process({code(8, 5)}, 8);
  fake.process.texts.erase("maps");
  SECTION("a live process") {
    fake.process.read_ahead = true;
    CHECK(cost_of_library(fake).resident == 5 * page);
  }
  SECTION("a recording has to have both") {
    SnapshotOptions options;
    options.costs = true;
    CHECK_FALSE(take_snapshot(fake.target(), options));
  }
}

TEST_CASE("costs: memory beside a library without .bss is nobody's", "[collect][costs]") {
  auto fake = process({code(8, 5), anonymous(4, 4)}, 8);
  CHECK(cost_of_library(fake).resident == 5 * page);
}

TEST_CASE("costs: code moved to anonymous pages inside the segments stays the library's",
          "[collect][costs]") {
  auto fake = process({code(2, 2), anonymous(4, 4), {2, 12, 6, 1, 0, "/lib/liba.so"}}, 8);
  CHECK(cost_of_library(fake).resident == 7 * page);
}

TEST_CASE("costs: where .bss is one mapping with other memory its pages are looked at",
          "[collect][costs]") {
  auto fake = process({code(8, 5), anonymous(16, 10)}, 12);
  const std::string key = fmt::format("pagemap@{}+{}", (library_at / page + 8) * 8, 4 * 8);
  SECTION("touched, untouched, only read") {
    fake.process.parts[key] = page_map({own, 0, zero_page, own});
    const Cost cost = cost_of_library(fake);
    CHECK(cost.resident == 7 * page);
    CHECK(cost.private_bytes == 2 * page);
  }
  SECTION("not readable: said, and no guess is made") {
    bool unknown = false;
    const Cost cost = cost_of_library(fake, &unknown);
    CHECK(unknown);
    CHECK_FALSE(cost.resident);
  }
}

TEST_CASE("costs: all memory of the process by use, which sums to smaps", "[collect][costs]") {
  auto fake = process({code(8, 5, 2), anonymous(2, 2), {3, 13, 0, 1, 0, "/data/weights"}}, 10);
  SnapshotOptions options;
  options.costs = true;
  const auto with = take_snapshot(fake.target(), options);
  REQUIRE(with);
  REQUIRE(with->memory);
  CHECK(with->memory->total().resident == 8 * page);
  CHECK(with->memory->total().dirty == 4 * page);
  CHECK(with->memory->total().mapped == 13 * page);
  options.memory_classes = false;  // for a recording
  const auto without = take_snapshot(fake.target(), options);
  REQUIRE(without);
  CHECK_FALSE(without->memory);
}

TEST_CASE("costs: without smaps they are unknown and a notice says so", "[collect][costs]") {
  auto fake = process({code(8, 5)}, 8);
  fake.process.texts.erase("smaps");
  SnapshotOptions options;
  options.costs = true;
  const auto trace = take_snapshot(fake.target(), options);
  REQUIRE(trace);
  CHECK(std::any_of(trace->notices.begin(), trace->notices.end(), [](const Notice& notice) {
    return notice.code == "costs-unreadable";
  }));
}
