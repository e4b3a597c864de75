#pragma once
// Symbol versions of a file: which it defines (DT_VERDEF) and which it needs from whom
// (DT_VERNEED). At load the loader checks the second against the first, symbol or no symbol (glibc
// elf/dl-version.c).

#include "tracso/result.hpp"
#include "tracso/target.hpp"

#include "elf/file_image.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tracso::elf {

/// Of an entry of DT_VERSYM: not for others to bind to, and the number of its version.
constexpr std::uint16_t hidden_bit = 0x8000, index_bits = 0x7FFF;

/// One version needed from a file.
struct NeededVersion {
  std::string name;         ///< "GLIBC_2.34"
  bool weak = false;        ///< the loader says nothing if it is missing
  std::uint16_t index = 0;  ///< its number in DT_VERSYM
  bool operator==(const NeededVersion&) const = default;
};

/// The versions needed from one file.
struct VersionNeed {
  std::string file;  ///< as in DT_NEEDED: "libc.so.6"
  std::vector<NeededVersion> versions;
  bool operator==(const VersionNeed&) const = default;
};

struct DefinedVersion {
  std::string name;         ///< "GLIBC_2.34"; of the base: the file's own name
  bool base = false;        ///< stands for the file itself, not for a version
  std::uint16_t index = 0;  ///< its number in DT_VERSYM
  bool operator==(const DefinedVersion&) const = default;
};

struct Versions {
  std::vector<VersionNeed> needed;      ///< in the order of the file
  std::vector<DefinedVersion> defined;  ///< in the order of the file; empty: no versions at all
  bool operator==(const Versions&) const = default;
};

/// Both tables. malformed: as FileImage, or a table without end.
Result<Versions> read_versions(const File& file, std::string_view name);
Result<Versions> read_versions(FileImage& image, std::span<const DynamicEntry> entries);

/// The needed versions that `definer` lacks and the loader would stop for: "version `V2' not
/// found". None where the definer has no versions at all (the loader only warns) and none that are
/// weak.
std::vector<std::string> missing_versions(const VersionNeed& need, const Versions& definer);

}  // namespace tracso::elf
