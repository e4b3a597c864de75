#pragma once
// _PyRuntime of a program that does not export it: libpython.a without -rdynamic, static, stripped.
// Section headers are not mapped, so this one needs the file; so does what only a section's name
// tells.

#include "tracso/target.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tracso::python {

/// Where a file puts _PyRuntime, before the load bias is added.
struct FileRuntime {
  std::uint64_t address = 0;
  std::string how;  ///< "section" (.PyRuntime, 3.10 and later, survives strip), "symbol table"
};

/// A section of a file that has bytes in it.
struct FileSection {
  std::uint64_t address = 0;  ///< before the load bias is added
  std::uint64_t bytes = 0;
};

/// By its name; nullopt: not there, not in memory, or not a 64-bit little-endian ELF file.
std::optional<FileSection> section_in_file(const File& file, std::string_view name);

enum class SymbolTables : std::uint8_t { read, leave };

/// Searches the section headers, and .symtab if asked (it may have many megabytes); nullopt: not
/// there, or not a 64-bit little-endian ELF file.
std::optional<FileRuntime> runtime_in_file(const File& file, SymbolTables tables);

/// The value of a symbol in .symtab, local ones too, before the load bias is added; nullopt as
/// above.
std::optional<std::uint64_t> symbol_in_file(const File& file, std::string_view name);

}  // namespace tracso::python
