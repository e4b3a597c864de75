#include "elf/relocations.hpp"

#include "support/build_elf.hpp"
#include "support/catch.hpp"
#include "support/fake_target.hpp"

#include <elf.h>

using namespace tracso;
using namespace tracso::test;

namespace {

Result<std::uint64_t> count(const std::string& bytes) {
  return elf::relocation_bytes(*memory_file(bytes), "/lib/x.so");
}

std::uint64_t bytes_of(const ElfSpec& spec) {
  const auto bytes = count(build_elf(spec));
  REQUIRE(bytes);
  return *bytes;
}

}  // namespace

TEST_CASE("relocations: each page counts once, however often and by which table it is named",
          "[elf]") {
  for (const ElfClass elf_class : {ElfClass::elf32, ElfClass::elf64}) {
    for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
      ElfSpec spec{.elf_class = elf_class, .byte_order = order};
      CHECK(bytes_of(spec) == 0);
      spec.rela = {0x20000, 0x20ff8, 0x21000, 0x20008};
      CHECK(bytes_of(spec) == 2 * 4096);
      spec.relr = {0x21010, 0x30000};
      CHECK(bytes_of(spec) == 3 * 4096);
    }
  }
}

TEST_CASE("relocations: the bits of RELR stand for the words behind", "[elf]") {
  // The last word of a page, then bit 0: the first word of the next.
  CHECK(bytes_of({.relr = {0x20ff8, 0b11}}) == 2 * 4096);
  CHECK(bytes_of({.relr = {0x20ff0, 0b11}}) == 4096);
  // 63 words behind the first; a second bitmap goes on where the first ended.
  CHECK(bytes_of({.relr = {0x20000, (std::uint64_t{1} << 63U) | 1U}}) == 4096);
  std::vector<std::uint64_t> words{0x20000};
  words.insert(words.end(), 9, ~std::uint64_t{0});
  CHECK(bytes_of({.relr = words}) == 2 * 4096);
  CHECK(bytes_of({.elf_class = ElfClass::elf32, .machine = EM_386, .relr = {0x20ffc, 0b11}}) ==
        2 * 4096);
}

TEST_CASE("relocations: PLT relocations count too, in the form they say", "[elf]") {
  // The PLT table is the RELA one, under another name.
  ElfSpec spec{.rela = {0x20000, 0x31000}};
  std::string bytes = build_elf(spec);
  const auto rename = [&](std::uint64_t from, std::uint64_t to) {
    const std::size_t dynamic = bytes.size() - 16 * 6;
    for (std::size_t at = dynamic; at < bytes.size(); at += 16) {
      if (static_cast<unsigned char>(bytes[at]) == from && bytes[at + 1] == '\0') {
        bytes[at] = static_cast<char>(to);
        return true;
      }
    }
    return false;
  };
  REQUIRE(rename(DT_RELA, DT_JMPREL));
  REQUIRE(rename(DT_RELASZ, DT_PLTRELSZ));
  const auto counted = count(bytes);
  REQUIRE(counted);
  CHECK(*counted == 2 * 4096);
}

TEST_CASE("relocations: tables outside the file or beyond reason are refused", "[elf]") {
  const auto with = [](std::uint64_t address, std::uint64_t size) {
    return count(
        build_elf({.dynamic = {value_entry(DT_RELA, address), value_entry(DT_RELASZ, size)}}));
  };
  CHECK(with(0x10000, 0));
  CHECK_FALSE(with(0x9000000, 24));
  CHECK_FALSE(with(0x10000, ~std::uint64_t{0}));
  CHECK_FALSE(with(0x10000, 24 * 1000));
}
