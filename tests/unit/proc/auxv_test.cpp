#include "proc/auxv.hpp"

#include "support/catch.hpp"

#include <elf.h>

#include <string>
#include <utility>
#include <vector>

namespace {

template <class Word>
std::string auxv_bytes(const std::vector<std::pair<std::uint64_t, std::uint64_t>>& pairs) {
  std::string bytes;
  for (const auto& [type, value] : pairs) {
    for (const auto word : {static_cast<Word>(type), static_cast<Word>(value)}) {
      bytes.append(reinterpret_cast<const char*>(&word), sizeof word);
    }
  }
  return bytes;
}

std::vector<std::pair<std::uint64_t, std::uint64_t>> pairs(std::uint64_t phent) {
  return {{AT_SYSINFO_EHDR, 0xf7fc0000},
          {AT_HWCAP, 0x178bfbff},
          {AT_PAGESZ, 4096},
          {AT_PHDR, 0x56555034},
          {AT_PHENT, phent},
          {AT_PHNUM, 11},
          {AT_BASE, 0xf7fc5000},
          {AT_ENTRY, 0x56556070},
          {AT_UID, 1000},
          {AT_EUID, 0},
          {AT_GID, 1001},
          {AT_EGID, 1002},
          {AT_SECURE, 1},
          {AT_EXECFN, 0xffffdfe8},
          {AT_PLATFORM, 0xffffd4eb},
          {AT_NULL, 0},
          {AT_PHNUM, 99}};
}

}  // namespace

TEST_CASE("auxv: words of either size are told apart", "[proc][auxv]") {
  using tracso::ElfClass;
  const auto elf_class = GENERATE(ElfClass::elf64, ElfClass::elf32);
  const auto bytes = elf_class == ElfClass::elf64 ? auxv_bytes<std::uint64_t>(pairs(56))
                                                  : auxv_bytes<std::uint32_t>(pairs(32));
  const auto auxv = tracso::proc::parse_auxv(bytes);
  REQUIRE(auxv);
  CHECK(auxv->elf_class == elf_class);
  CHECK(auxv->phdr == 0x56555034);
  CHECK(auxv->phnum == 11);
  CHECK(auxv->base == 0xf7fc5000);
  CHECK(auxv->entry == 0x56556070);
  CHECK(auxv->execfn == 0xffffdfe8);
  CHECK(auxv->platform == 0xffffd4eb);
  CHECK(auxv->vdso == 0xf7fc0000);
  CHECK(auxv->hwcap == 0x178bfbff);
  CHECK(auxv->page_bytes == 4096);
  CHECK(auxv->secure);
  CHECK(auxv->uid == 1000);
  CHECK(auxv->euid == 0);
  CHECK(auxv->gid == 1001);
  CHECK(auxv->egid == 1002);
}

TEST_CASE("auxv: what is no auxv is refused", "[proc][auxv]") {
  const auto empty = tracso::proc::parse_auxv("");
  REQUIRE_FALSE(empty);
  CHECK(empty.error().kind == tracso::ErrorKind::malformed);
  CHECK_FALSE(tracso::proc::parse_auxv("no"));
  CHECK_FALSE(tracso::proc::parse_auxv(std::string(4096, '\x07')));
  // A 64-bit auxv with the header size of 32-bit programs is neither.
  CHECK_FALSE(tracso::proc::parse_auxv(auxv_bytes<std::uint64_t>(pairs(32))));
}
