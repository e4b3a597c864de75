#pragma once
// Which mapped files are shared objects. An object is ELF by content, never by its name, and one
// file is what the kernel says it is: a device and an inode.

#include "tracso/elf_reader.hpp"
#include "tracso/graph.hpp"
#include "tracso/mapping.hpp"
#include "tracso/target.hpp"
#include "tracso/trace.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tracso {

/// One file with code or data of a loaded object.
struct MappedObject {
  TargetPath path;  ///< without " (deleted)"
  std::uint64_t device = 0, inode = 0;
  ObjectFile::State state = ObjectFile::State::current;
  std::vector<std::size_t> mappings;  ///< indices, ascending
  std::uint64_t base = 0;             ///< start of its first mapping
  ElfFile elf;
  std::optional<FileStatus> status;  ///< nullopt: the very file could not be opened
  std::optional<FileStatus>
      at_path;  ///< what stood at its path then; nullopt: it was not to be had
  std::map<std::uint64_t, std::string> pieces;  ///< what was read of the file, by offset

  /// The file's first bytes, as far as they were read.
  std::string_view start() const {
    const auto first = pieces.find(0);
    return first == pieces.end() ? std::string_view() : first->second;
  }
};

struct MappedObjects {
  std::vector<MappedObject> objects;  ///< in the order of addresses
  std::optional<Error> reader_error;  ///< readelf was asked for and is not on this machine
  std::vector<std::optional<std::size_t>> of_mapping;  ///< per mapping: index into objects
};

/// `known` says of each mapping that the loader loaded it (by its link map): such files count even
/// without executable pages. With `loader_known` false, any private ELF mapping with a header
/// counts instead.
MappedObjects collect_mapped_objects(const Target& target,
                                     const std::vector<Mapping>& mappings,
                                     const ElfReader& reader,
                                     const std::vector<bool>& known,
                                     bool loader_known,
                                     std::vector<Notice>& notices);

}  // namespace tracso
