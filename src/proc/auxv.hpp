#pragma once
// /proc/PID/auxv: what the kernel told the program at its start (getauxval(3)).

#include "tracso/dynamic_section.hpp"
#include "tracso/result.hpp"

#include <cstdint>
#include <string_view>

namespace tracso::proc {

/// The values as they stand there; 0 where the kernel gave none. When a program was started as
/// `ld.so ./program`, they are ld.so's: `base` is 0 and `phdr` and `entry` belong to ld.so.
struct Auxv {
  ElfClass elf_class = ElfClass::elf64;  ///< of the program, by the size of the words
  std::uint64_t phdr = 0;                ///< AT_PHDR: address of its program headers
  std::uint64_t phnum = 0, phent = 0;    ///< AT_PHNUM, AT_PHENT
  std::uint64_t base = 0;                ///< AT_BASE: address of ld.so; 0: no interpreter
  std::uint64_t entry = 0;               ///< AT_ENTRY
  std::uint64_t execfn = 0;              ///< AT_EXECFN: address of the name given to execve
  std::uint64_t platform = 0;            ///< AT_PLATFORM: address of a text, "x86_64"
  std::uint64_t vdso = 0;                ///< AT_SYSINFO_EHDR: address of the vDSO's ELF header
  std::uint64_t hwcap = 0, hwcap2 = 0;   ///< AT_HWCAP, AT_HWCAP2
  std::uint64_t page_bytes = 0;          ///< AT_PAGESZ
  std::uint64_t uid = 0, euid = 0, gid = 0, egid = 0;
  bool secure = false;  ///< AT_SECURE: ld.so ignores most of the environment
  bool operator==(const Auxv&) const = default;
};

/// The bytes of the file to values, words of 4 or 8 bytes told by AT_PHENT. malformed: neither
/// fits.
Result<Auxv> parse_auxv(std::string_view bytes);

}  // namespace tracso::proc
