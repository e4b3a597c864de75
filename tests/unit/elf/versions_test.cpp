#include "elf/versions.hpp"

#include "support/build_elf.hpp"
#include "support/catch.hpp"
#include "support/fake_target.hpp"

#include <elf.h>

using namespace tracso;
using namespace tracso::test;

namespace {

Result<elf::Versions> read(const std::string& bytes) {
  return elf::read_versions(*memory_file(bytes), "/lib/x.so");
}

}  // namespace

TEST_CASE("versions: needed and defined ones are read in every class and byte order", "[elf]") {
  for (const ElfClass elf_class : {ElfClass::elf32, ElfClass::elf64}) {
    for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
      const auto versions =
          read(build_elf({.elf_class = elf_class,
                          .byte_order = order,
                          .defined_versions = {"libx.so.1", "X_1", "X_2"},
                          .needed_versions = {{"libc.so.6", "GLIBC_2.34"},
                                              {"libm.so.6", "GLIBC_2.29"},
                                              {"libc.so.6", "GLIBC_2.38", true}}}));
      REQUIRE(versions);
      const std::vector<elf::DefinedVersion> defined{
          {"libx.so.1", true, 1}, {"X_1", false, 2}, {"X_2", false, 3}};
      CHECK(versions->defined == defined);
      REQUIRE(versions->needed.size() == 2);
      CHECK(versions->needed[0] ==
            elf::VersionNeed{"libc.so.6", {{"GLIBC_2.34", false, 4}, {"GLIBC_2.38", true, 6}}});
      CHECK(versions->needed[1] == elf::VersionNeed{"libm.so.6", {{"GLIBC_2.29", false, 5}}});
    }
  }
}

TEST_CASE("versions: a file without any has none", "[elf]") {
  const auto versions = read(build_elf({.dynamic = {soname("libx.so.1")}}));
  REQUIRE(versions);
  CHECK(*versions == elf::Versions{});
}

TEST_CASE("versions: what the loader would stop for is missing, and nothing else", "[elf]") {
  const elf::VersionNeed need{"libver.so.1", {{"V1"}, {"V2"}, {"V3", true}}};
  elf::Versions old;
  old.defined = {{"libver.so.1", true, 1}, {"V1", false, 2}};
  CHECK(elf::missing_versions(need, old) == std::vector<std::string>{"V2"});
  old.defined.push_back({"V2", false, 3});
  CHECK(elf::missing_versions(need, old).empty());
  CHECK(elf::missing_versions(need, elf::Versions{}).empty());
}

TEST_CASE("versions: damaged tables give facts or an error, in bounded time", "[elf]") {
  const std::string good = build_elf(
      {.defined_versions = {"libx.so.1", "X_1"}, .needed_versions = {{"libc.so.6", "GLIBC_2.34"}}});
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (const char value : {'\x00', '\x01', '\xff'}) {
      std::string bytes = good;
      bytes[at] = value;
      const auto versions = read(bytes);
      CHECK((versions || !versions.error().reason.empty()));
    }
  }
}

TEST_CASE("versions: a list that creeps through the file byte by byte is refused", "[elf]") {
  // Every four bytes are 1, so that each record sends us one byte on.
  std::string filler;
  for (int i = 0; i < 20000; ++i) {
    filler += std::string("\1\0\0\0", 4);
  }
  const auto versions = read(build_elf(
      {.interp = std::string(filler), .dynamic = {value_entry(DT_VERNEED, 0x10000 + 400)}}));
  REQUIRE_FALSE(versions);
  CHECK(versions.error().kind == ErrorKind::malformed);
}
