#pragma once
// What a dynamic loader has compiled in: its kind, system directories, version. Read from its file,
// which is never run, so that foreign roots and foreign machines are safe to look at.

#include "tracso/dynamic_section.hpp"
#include "tracso/target.hpp"

#include "loader/hwcaps.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tracso::loader {

/// EM_LOONGARCH and EF_RISCV_FLOAT_ABI, which an older <elf.h> lacks.
constexpr std::uint16_t loongarch = 258;
constexpr std::uint32_t riscv_float_abi = 6;

enum class LoaderFamily : std::uint8_t { glibc, musl };

struct LoaderTraits {
  LoaderFamily family = LoaderFamily::glibc;
  TargetPath path;
  bool known = false;  ///< its file was read; false: what is usual for the machine stands
  std::optional<unsigned> minor;  ///< glibc 2.N, by a text in the file or by its name
  /// In the order searched, each ending in a slash. Of musl: what its own path list says.
  std::vector<std::string> system_directories;
  std::string lib;  ///< $LIB
  Hwcaps hwcaps;
  /// The levels of the CPU in the bits of ElfFile::isa_needed; nullopt: the loader does not compare
  /// them, or the CPU is not known.
  std::optional<std::uint32_t> isa;
  bool reads_abi_notes = false;  ///< it passes over files by their ABI tag
  std::uint32_t kernel = 0;      ///< what it compares with the tag; 0: not known
};

/// The part of a file's facts that chooses a loader.
struct ProgramKind {
  ElfClass elf_class = ElfClass::none;
  ByteOrder byte_order = ByteOrder::little;
  std::uint16_t machine = 0;
  std::uint32_t flags = 0;
};

ProgramKind kind_of(const ElfFile& file);

/// The loader that a library of this kind is meant for: that of musl if the library needs musl's
/// libc, else the usual one of the machine. Empty: none known.
std::string default_interpreter(const ElfFile& file);

/// The traits of the loader at that path. A file that cannot be read leaves what is usual.
LoaderTraits read_loader_traits(const FileSystem& files,
                                const TargetPath& path,
                                const ProgramKind& kind,
                                const CpuFacts& cpu);

/// The same from the bytes of a loader of glibc.
void read_glibc_strings(std::string_view bytes, LoaderTraits& traits);

}  // namespace tracso::loader
