#pragma once
// The dynamic symbols of a file: whether it defines one, and which it wants from others. Lookups go
// through the hash table as the loader's do, so a library of a hundred thousand symbols costs a
// handful of reads.

#include "tracso/result.hpp"
#include "tracso/target.hpp"

#include "elf/file_image.hpp"
#include "elf/versions.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tracso::elf {

/// A symbol that another file must define.
struct UndefinedSymbol {
  std::string name;
  std::string version;  ///< "GLIBC_2.34"; empty: none asked for
  std::string file;     ///< whose version that is; empty: no version
  bool weak = false;    ///< may stay undefined
  bool operator==(const UndefinedSymbol&) const = default;
};

/// The dynamic symbol table of one file. `file` and `name` must outlive it.
class SymbolTable {
 public:
  /// Reads the dynamic section and the versions. Errors: as FileImage and read_versions.
  static Result<SymbolTable> open(const File& file, std::string_view name);

  const Versions& versions() const { return versions_; }

  /// Whether the file exports the symbol so that a reference to `name@version` binds to it (empty:
  /// to any of its versions). malformed: its tables lead out of the file.
  Result<bool> defines(std::string_view name, std::string_view version);

  /// The address (as in the file) of an exported symbol, of any of its versions; nullopt: not
  /// exported. malformed: as above.
  Result<std::optional<std::uint64_t>> address_of(std::string_view name);

  /// In the order of the symbol table. malformed: as above, or more symbols than any linker writes.
  Result<std::vector<UndefinedSymbol>> undefined();

 private:
  struct Symbol {
    std::uint32_t name = 0;
    std::uint8_t info = 0;
    std::uint16_t section = 0;
    std::uint64_t value = 0;
  };

  /// The head of DT_GNU_HASH: `first` is the index of the first symbol in its chains.
  struct GnuTable {
    std::uint32_t buckets = 0, first = 0;
    std::uint64_t bucket_table = 0, chain_table = 0;
  };

  SymbolTable(FileImage image, std::vector<DynamicEntry> entries, Versions versions);

  std::uint64_t symbol_bytes() const { return image_.encoding().wide ? 24 : 16; }

  Result<std::uint32_t> number_at(std::uint64_t address);
  Result<Symbol> symbol(std::uint64_t index);
  Result<std::uint16_t> version_index(std::uint64_t index);
  Result<bool> is_named(const Symbol& symbol, std::string_view name);
  Result<bool> binds(std::uint64_t index, std::string_view name, std::string_view version);
  Result<bool> has_version(std::uint64_t index, std::string_view version);
  Result<bool> defines_by_gnu_hash(std::string_view name, std::string_view version);
  Result<bool> defines_by_hash(std::string_view name, std::string_view version);
  Result<std::vector<UndefinedSymbol>> list_undefined(std::vector<std::uint64_t>& names,
                                                      std::vector<std::uint64_t>& indexes);
  Result<GnuTable> gnu_table();
  Result<std::uint64_t> count_symbols();
  Result<std::uint64_t> count_by_sections();

  FileImage image_;
  std::vector<DynamicEntry> entries_;
  Versions versions_;
  std::uint64_t symbols_ = 0, strings_ = 0;
  std::uint64_t bound_ = 0;  // value of the symbol that was found last
  std::optional<std::uint64_t> gnu_hash_, hash_, version_table_;
};

}  // namespace tracso::elf
