#pragma once
// Which mapped files are shared objects. An object is ELF by content, never by its name, and one
// file is what the kernel says it is: a device and an inode.

#include "tracso/elf_reader.hpp"
#include "tracso/graph.hpp"
#include "tracso/mapping.hpp"
#include "tracso/trace.hpp"

#include <cstdint>
#include <optional>
#include <string>
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
  std::optional<std::uint64_t> file_bytes;  ///< nullopt: the very file could not be opened
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
