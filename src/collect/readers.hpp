#pragma once
// Which ELF reader a snapshot uses.

#include "tracso/elf_reader.hpp"
#include "tracso/snapshot.hpp"

#include <memory>
#include <vector>

namespace tracso {

/// native for "auto" and "native", readelf for "readelf".
std::unique_ptr<ElfReader> make_reader(const SnapshotOptions& options, const Target& target);

/// A notice where readelf's text could not be trusted and our own reader stood in.
void note_reader_fallbacks(const ElfReader& reader, std::vector<Notice>& notices);

}  // namespace tracso
