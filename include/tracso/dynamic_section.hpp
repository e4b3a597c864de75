#pragma once
// What an ELF file says of itself that the dynamic loader acts on; nothing resolved.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tracso {

enum class ElfClass : std::uint8_t { none, elf32, elf64 };
enum class ByteOrder : std::uint8_t { little, big };

/// DT_NEEDED, DT_FILTER or DT_AUXILIARY, in the order of the dynamic section.
struct NeededEntry {
  enum class Kind : std::uint8_t { needed, filter, auxiliary };
  Kind kind = Kind::needed;
  std::string name;  ///< as written: a soname, a path, may hold $ORIGIN, may be empty
  bool operator==(const NeededEntry&) const = default;
};

/// The strings and flags of PT_DYNAMIC (System V gABI chapter 5; glibc elf/elf.h for the DF_1
/// bits).
struct DynamicSection {
  bool present = false;  ///< there is a PT_DYNAMIC; false: a static program
  std::optional<std::string> soname, rpath, runpath;
  std::vector<NeededEntry> needed;
  std::vector<std::string> audit, depaudit;
  std::uint64_t flags = 0;    ///< DT_FLAGS
  std::uint64_t flags_1 = 0;  ///< DT_FLAGS_1
  bool operator==(const DynamicSection&) const = default;

  /// DF_1_NODEFLIB: the requester refuses the system directories.
  bool nodeflib() const { return (flags_1 & 0x800U) != 0; }
};

/// One ELF file: header, interpreter, stack request, dynamic section.
struct ElfFile {
  ElfClass elf_class = ElfClass::none;
  ByteOrder byte_order = ByteOrder::little;
  std::uint8_t os_abi = 0;
  std::uint16_t type = 0;        ///< ET_EXEC 2, ET_DYN 3
  std::uint16_t machine = 0;     ///< EM_X86_64 62
  std::uint32_t flags = 0;       ///< e_flags
  std::string interp;            ///< PT_INTERP; empty: none
  std::string build_id;          ///< NT_GNU_BUILD_ID in lower-case hex; empty: none
  std::uint32_t isa_needed = 0;  ///< GNU_PROPERTY_X86_ISA_1_NEEDED: bit 0 baseline, 1 x86-64-v2 ...
  bool executable_stack = false;  ///< PT_GNU_STACK asks for it (or is absent where that means yes)
  DynamicSection dynamic;
  bool operator==(const ElfFile&) const = default;
};

}  // namespace tracso
