#pragma once
// What the loader writes into a file's pages before main: memory that no other process can share.

#include "tracso/result.hpp"
#include "tracso/target.hpp"

#include <cstdint>
#include <string_view>

namespace tracso::elf {

/// Distinct pages that RELA, REL, RELR and PLT relocations write to, times 4096. malformed: as
/// FileImage, or tables larger than any linker writes.
Result<std::uint64_t> relocation_bytes(const File& file, std::string_view name);

}  // namespace tracso::elf
