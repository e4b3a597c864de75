#pragma once
// Makes small ELF files in memory, of either class and byte order, for tests. No section headers:
// like the loader, tracso lives on program headers alone.

#include "tracso/dynamic_section.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tracso::test {

/// One entry of the dynamic section: a tag with a number, or with a text that goes into the string
/// table.
struct DynamicEntry {
  std::uint64_t tag = 0;
  std::uint64_t value = 0;
  std::optional<std::string> text;
};

DynamicEntry needed(std::string name);
DynamicEntry soname(std::string name);
DynamicEntry rpath(std::string path);
DynamicEntry runpath(std::string path);
/// Any other tag whose value is a string: DT_AUDIT 0x6ffffefc, DT_FILTER 0x7fffffff.
DynamicEntry text_entry(std::uint64_t tag, std::string text);
/// Any tag with a number: DT_FLAGS_1 0x6ffffffb.
DynamicEntry value_entry(std::uint64_t tag, std::uint64_t value);

struct ElfNote {
  std::string owner;  ///< "GNU" (the NUL is added)
  std::uint32_t type = 0;
  std::string content;
};

/// NT_GNU_BUILD_ID.
ElfNote build_id_note(std::string bytes);

/// An entry of .dynsym. `version` of a defined one is a version this file defines, of an undefined
/// one a version it needs from `file`; empty: none.
struct ElfSymbol {
  std::string name;
  bool defined = true;
  bool weak = false;
  std::string version = {};
  std::string file = {};
  bool hidden = false;  ///< bound only by its version: name@V, not name@@V
  std::uint64_t value = 0x40;
  std::uint64_t size = 8;
};

/// A version needed from a file, beside those that symbols need.
struct ElfVersionNeed {
  std::string file, version;
  bool weak = false;
};

enum class HashStyle : std::uint8_t { none, sysv, gnu };

/// What to build; every field has the value of an ordinary x86-64 shared object.
struct ElfSpec {
  ElfClass elf_class = ElfClass::elf64;
  ByteOrder byte_order = ByteOrder::little;
  std::uint8_t os_abi = 0;
  std::uint16_t type = 3;
  std::uint16_t machine = 62;
  std::uint32_t flags = 0;
  std::optional<std::string> interp = {};
  std::vector<ElfNote> notes = {};
  std::optional<std::uint32_t> stack_flags =
      6;  ///< p_flags of PT_GNU_STACK; nullopt: no such header
  bool has_dynamic = true;
  bool has_string_table = true;  ///< DT_STRTAB and DT_STRSZ
  std::vector<DynamicEntry> dynamic =
      {};  ///< DT_STRTAB, DT_SYMTAB and the like are added behind them
  HashStyle hash = HashStyle::gnu;
  std::vector<ElfSymbol> symbols = {};
  std::vector<std::string> defined_versions =
      {};  ///< the first is the file's own name (VER_FLG_BASE)
  std::vector<ElfVersionNeed> needed_versions = {};
  std::vector<std::uint64_t> rela = {};  ///< r_offset of each
  std::vector<std::uint64_t> relr = {};  ///< DT_RELR words
  std::uint64_t load_address = 0x10000;  ///< p_vaddr of the one PT_LOAD; p_offset is 0
  std::uint64_t memory_bytes = 0;        ///< its p_memsz; 0: that of the file
};

/// The bytes of the file.
std::string build_elf(const ElfSpec& spec);

}  // namespace tracso::test
