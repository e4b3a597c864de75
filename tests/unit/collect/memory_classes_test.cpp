#include "collect/memory_classes.hpp"

#include "support/catch.hpp"
#include "support/fake_target.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tracso {
namespace {

std::string mapping(std::uint64_t start,
                    std::uint64_t end,
                    std::string_view rest,
                    std::uint64_t resident_kb,
                    std::uint64_t dirty_kb) {
  return fmt::format("{:x}-{:x} {}\nRss: {} kB\nPrivate_Clean: 0 kB\nPrivate_Dirty: {} kB\n",
                     start,
                     end,
                     rest,
                     resident_kb,
                     dirty_kb);
}

MemoryByClass classes_of(const std::string& smaps) {
  test::FakeProcess process;
  process.texts["smaps"] = smaps;
  const auto classes = quick_memory_classes(process);
  REQUIRE(classes);
  return classes->memory;
}

constexpr std::uint64_t arena = std::uint64_t{64} << 20;

TEST_CASE("memory classes: every mapping is of exactly one class", "[collect][memory]") {
  const std::string smaps =
      mapping(0x1000, 0x3000, "r-xp 00000000 08:01 5 /usr/lib/libx.so", 8, 0) +
      mapping(0x3000, 0x4000, "rw-p 00002000 08:01 5 /usr/lib/libx.so", 4, 4) +
      mapping(0x10000, 0x20000, "rw-p 00000000 00:00 0 [heap]", 64, 64) +
      mapping(0x30000, 0x31000, "r--p 00000000 08:01 6 /usr/lib/locale/locale-archive", 4, 0) +
      mapping(0x40000, 0x42000, "rw-s 00000000 00:01 7 /dev/zero (deleted)", 8, 0) +
      mapping(0x50000, 0x52000, "rw-s 00000000 00:01 8 /memfd:pool (deleted)", 8, 8) +
      mapping(0x60000, 0x64000, "rw-p 00000000 00:00 0", 16, 16) +
      mapping(0x70000, 0x74000, "rw-p 00000000 00:00 0 [stack]", 12, 12);
  const MemoryByClass classes = classes_of(smaps);
  CHECK(classes[MemoryClass::libraries].resident == 12 * 1024);
  CHECK(classes[MemoryClass::heap].dirty == 64 * 1024);
  CHECK(classes[MemoryClass::files].resident == 4 * 1024);
  CHECK(classes[MemoryClass::shared].resident == 16 * 1024);
  CHECK(classes[MemoryClass::other].resident == 16 * 1024);
  CHECK(classes[MemoryClass::stacks].resident == 12 * 1024);
  CHECK(classes.total().resident == 124 * 1024);
  CHECK(classes.total().mapped ==
        0x2000 + 0x1000 + 0x10000 + 0x1000 + 0x2000 + 0x2000 + 0x4000 + 0x4000);
}

TEST_CASE("memory classes: a thread's arena of malloc is heap", "[collect][memory]") {
  const MemoryByClass classes =
      classes_of(mapping(arena, arena + 0x21000, "rw-p 00000000 00:00 0", 100, 100) +
                 mapping(arena + 0x21000, 2 * arena, "---p 00000000 00:00 0", 0, 0));
  CHECK(classes[MemoryClass::heap].resident == 100 * 1024);
  CHECK(classes[MemoryClass::other].resident == 0);
}

// The head of a heap of glibc's: ar_ptr, prev, size, mprotect_size.
std::string heap_info(std::uint64_t ar_ptr,
                      std::uint64_t prev,
                      std::uint64_t size = 0x21000,
                      std::uint64_t usable = 0x21000) {
  std::string bytes;
  for (const std::uint64_t word : {ar_ptr, prev, size, usable}) {
    bytes.append(reinterpret_cast<const char*>(&word), sizeof word);
  }
  return bytes;
}

std::uint64_t heap_bytes_of(const std::string& head, bool with_reserve) {
  test::FakeProcess process;
  const std::uint64_t end = arena + (with_reserve ? 0x21000 : arena);
  process.texts["smaps"] =
      mapping(arena, end, "rw-p 00000000 00:00 0", 100, 100) +
      (with_reserve ? mapping(end, 2 * arena, "---p 00000000 00:00 0", 0, 0) : "");
  process.memory[arena] = head;
  const auto classes = quick_memory_classes(process);
  REQUIRE(classes);
  const std::uint64_t other = classes->memory[MemoryClass::other].resident;
  CHECK(classes->memory[MemoryClass::heap].resident + other == 100 * 1024);
  return classes->memory[MemoryClass::heap].resident;
}

TEST_CASE("memory classes: what lies where an arena would, and does not begin like one, is none",
          "[collect][memory]") {
  constexpr std::uint64_t all = 100 * 1024;
  const bool with_reserve = GENERATE(false, true);
  const auto is_heap = [&](const std::string& head) {
    return heap_bytes_of(head, with_reserve) == all;
  };
  CHECK(is_heap(heap_info(arena + 32, 0)));
  CHECK(is_heap(heap_info(arena + 64, 0, arena, arena)));
  CHECK(is_heap(heap_info(5 * arena + 48, 3 * arena)));  // not the first of its arena
  CHECK_FALSE(is_heap(std::string(32, '\0')));
  CHECK_FALSE(is_heap(std::string(32, '\1')));
  CHECK_FALSE(is_heap(heap_info(arena + 8, 0)));           // inside the head itself
  CHECK_FALSE(is_heap(heap_info(arena + 8192, 0)));        // not behind it
  CHECK_FALSE(is_heap(heap_info(5 * arena + 48, 0)));      // another's, but the first
  CHECK_FALSE(is_heap(heap_info(arena + 48, 3 * arena)));  // its own, but not the first
  CHECK_FALSE(is_heap(heap_info(5 * arena + 48, 3 * arena + 8)));
  CHECK_FALSE(is_heap(heap_info(arena + 48, 0, 0)));
  CHECK_FALSE(is_heap(heap_info(arena + 48, 0, 0x21010)));
  CHECK_FALSE(is_heap(heap_info(arena + 48, 0, 0x22000)));  // more than is usable
  CHECK_FALSE(is_heap(heap_info(arena + 48, 0, 0x21000, 2 * arena)));
}

TEST_CASE("memory classes: anonymous memory behind a guard page is a stack", "[collect][memory]") {
  const MemoryByClass classes =
      classes_of(mapping(0x100000, 0x101000, "---p 00000000 00:00 0", 0, 0) +
                 mapping(0x101000, 0x901000, "rw-p 00000000 00:00 0", 20, 20) +
                 mapping(0xa00000, 0xb00000, "rw-p 00000000 00:00 0", 8, 8));
  CHECK(classes[MemoryClass::stacks].resident == 20 * 1024);
  CHECK(classes[MemoryClass::other].resident == 8 * 1024);
}

// A pool header as CPython 3.11 writes it for blocks of 32 bytes.
std::string pool(std::uint64_t address) {
  std::string bytes(48, '\0');
  const auto put = [&](std::size_t at, std::uint64_t value, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
      bytes[at + i] = static_cast<char>(value >> (8 * i));
    }
  };
  put(0, 3, 4);
  put(8, address + 80, 8);
  put(36, 1, 4);
  put(40, 48 + 32 * 5, 4);
  put(44, 16384 - 32, 4);
  return bytes;
}

TEST_CASE("memory classes: pools of pymalloc are Python's, the rest of the mapping is not",
          "[collect][memory]") {
  test::FakeProcess process;
  process.texts["smaps"] =
      mapping(0x1000, 0x3000, "r-xp 00000000 08:01 5 /usr/bin/python3.11", 8, 0) +
      mapping(0x100000, 0x110000, "rw-p 00000000 00:00 0", 64, 64);
  std::string memory(0x10000, '\0');
  memory.replace(0x4000, 48, pool(0x104000));
  memory.replace(0x8000, 48, pool(0x108000));
  process.memory[0x100000] = memory;
  const auto classes = quick_memory_classes(process);
  REQUIRE(classes);
  CHECK(classes->is_python);
  CHECK(classes->memory[MemoryClass::python].resident == 32 * 1024);
  CHECK(classes->memory[MemoryClass::other].resident == 32 * 1024);
}

// What a mapping of 16 pages of a Python has, with pools in its pages 4 and 8 and what pagemap
// says.
MemoryByClass classes_with_pages(std::uint64_t start, const std::vector<std::uint64_t>& pages) {
  constexpr std::uint64_t page = 4096;
  test::FakeProcess process;
  process.texts["smaps"] =
      mapping(0x1000, 0x3000, "r-xp 00000000 08:01 5 /usr/bin/python3.11", 8, 0) +
      mapping(start, start + 16 * page, "rw-p 00000000 00:00 0", 64, 64);
  std::string memory(16 * page, '\0');
  memory.replace(4 * page, 48, pool(start + 4 * page));
  memory.replace(8 * page, 48, pool(start + 8 * page));
  process.memory[start] = memory;
  process.parts[fmt::format("pagemap@{}+{}", start / page * 8, pages.size() * 8)] =
      std::string(reinterpret_cast<const char*>(pages.data()), pages.size() * 8);
  const auto classes = quick_memory_classes(process);
  REQUIRE(classes);
  return classes->memory;
}

TEST_CASE("memory classes: pools are looked for in pages that are there", "[collect][memory]") {
  constexpr std::uint64_t present = std::uint64_t{1} << 63, swapped = std::uint64_t{1} << 62;
  std::vector<std::uint64_t> pages(16, 0);
  pages[4] = present;
  CHECK(classes_with_pages(0x100000, pages)[MemoryClass::python].resident == 16 * 1024);
  pages[8] = swapped;
  CHECK(classes_with_pages(0x100000, pages)[MemoryClass::python].resident == 32 * 1024);
}

TEST_CASE("memory classes: the agent's own room is not searched for pools", "[collect][memory]") {
  constexpr std::uint64_t room = std::uint64_t{1} << 45;
  const std::vector<std::uint64_t> pages(16, std::uint64_t{1} << 63);
  CHECK(classes_with_pages(room, pages)[MemoryClass::python].resident == 0);
  CHECK(classes_with_pages(room - 0x10000, pages)[MemoryClass::python].resident == 32 * 1024);
}

}  // namespace
}  // namespace tracso
