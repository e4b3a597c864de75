#pragma once
// Our own ELF reader: any class and byte order, three or four small reads per file.

#include "tracso/elf_reader.hpp"

#include "elf/file_image.hpp"

#include <memory>
#include <string_view>

namespace tracso::elf {

/// ElfReader "native".
std::unique_ptr<ElfReader> make_native_reader();

/// All facts of one file; `name` is for messages. Errors: as ElfReader::read, and those of the
/// file.
Result<ElfFile> read_elf(const File& file, std::string_view name);

/// All but the dynamic section, of which only `present` is set.
Result<ElfFile> read_identity(FileImage& image);

/// The dynamic section of the file.
Result<DynamicSection> read_dynamic(FileImage& image);

}  // namespace tracso::elf
