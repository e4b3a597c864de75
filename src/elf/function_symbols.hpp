#pragma once
// Every function that a file gives a name, also static ones (.symtab, .dynsym), and where its code
// leads to others through a word of the GOT. Read by section headers, which stripped files have
// too.

#include "tracso/result.hpp"
#include "tracso/target.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tracso::elf {

struct FunctionSymbol {
  std::uint64_t address = 0;  ///< as the file counts, without the load bias
  std::string name;
  bool indirect = false;  ///< STT_GNU_IFUNC: at the address stands what chooses the function
  bool operator==(const FunctionSymbol&) const = default;
};

/// By address, each address once: of several names the one of .dynsym, else the shortest. Empty:
/// the file has neither table. malformed: not ELF, or a table that leads out of the file.
Result<std::vector<FunctionSymbol>> function_symbols(const File& file, std::string_view name);

/// A piece of code, in the file's own counting.
struct CodePiece {
  std::uint64_t address = 0;
  std::vector<std::byte> bytes;
};

/// The sections of PLT entries; empty: none, or no section headers. malformed: as above.
Result<std::vector<CodePiece>> plt_code(const File& file, std::string_view name);

}  // namespace tracso::elf
