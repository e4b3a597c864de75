// What the first bytes of a file alone tell.

#include "elf/file_image.hpp"

#include "support/build_elf.hpp"
#include "support/catch.hpp"

#include <cstring>

namespace tracso::elf {
namespace {

std::optional<std::uint64_t> of(const std::string& start) {
  return bytes_in_memory(std::as_bytes(std::span(start)));
}

std::string library(ElfClass elf_class = ElfClass::elf64, std::uint64_t load_address = 0x10000) {
  test::ElfSpec spec;
  spec.elf_class = elf_class;
  spec.load_address = load_address;
  spec.memory_bytes = 0x5432;
  return test::build_elf(spec);
}

}  // namespace

TEST_CASE("file_image: how far a file reaches in memory, from its header", "[elf]") {
  CHECK(of(library()) == 0x5432U);
  CHECK(of(library(ElfClass::elf32)) == 0x5432U);
  CHECK(of(library(ElfClass::elf64, 0x400000)) == 0x5432U);
  CHECK(of(library().substr(0, 1024)) == 0x5432U);
}

TEST_CASE("file_image: of too few bytes, or of none of ELF, that is not told", "[elf]") {
  CHECK_FALSE(of(""));
  CHECK_FALSE(of(std::string(64, '\x7f')));
  for (std::size_t bytes = 0; bytes < 64 + 56; ++bytes) {
    CHECK_FALSE(of(library().substr(0, bytes)));
  }
  std::string odd = library();
  SECTION("more headers than there are bytes") {
    std::memset(odd.data() + 56, 0xff, 2);
    CHECK_FALSE(of(odd));
  }
  SECTION("headers behind the end of all files") {
    std::memset(odd.data() + 32, 0xff, 8);
    CHECK_FALSE(of(odd));
  }
  SECTION("a segment that goes on behind the last address") {
    std::memset(odd.data() + 64 + 40, 0xff, 8);
    CHECK_FALSE(of(odd));
  }
  SECTION("no segment that is loaded") {
    std::memset(odd.data() + 64, 0, 4);
    CHECK_FALSE(of(odd));
  }
}

}  // namespace tracso::elf
