#pragma once
// All dynamic symbols of one file, and the slots through which it calls those of others. For
// questions about every symbol of a process: tables are read whole, lookups touch memory only.
// Who has one question asks elf/symbols.hpp, which reads a few hundred bytes.

#include "tracso/result.hpp"
#include "tracso/target.hpp"

#include "elf/file_image.hpp"
#include "elf/versions.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tracso::elf {

/// STB_WEAK: may stay undefined, and gives way to another definition.
constexpr std::uint8_t weak_binding = 2;

/// One word that the loader fills with the address of a symbol.
struct ImportSlot {
  std::uint64_t address = 0;  ///< as the file counts, without the load bias
  std::uint32_t symbol = 0;   ///< index
  bool jump = false;          ///< of the PLT: may be bound at the first call; else at the load
  std::uint64_t initial = 0;  ///< what the file has there: the way back into the PLT; 0: nothing
  bool operator==(const ImportSlot&) const = default;
};

/// An entry of .dynsym (System V gABI "Symbol Table"; names of <elf.h>).
struct LinkSymbol {
  std::uint32_t name = 0;  ///< offset of its name
  std::uint8_t binding = 0, type = 0;
  bool defined = false;  ///< here, with an address
  std::uint64_t value = 0, size = 0;
};

/// DT_GNU_HASH hashes by which all files are asked.
struct SymbolName {
  SymbolName(std::string_view name, std::string_view version);

  std::string_view text, version;  ///< an empty version: the default one
  std::uint32_t hash = 0;
};

class Linkage {
 public:
  /// Reads everything. malformed: as FileImage, a table that leads out of the file, or more entries
  /// than any linker writes.
  static Result<Linkage> read(const File& file, std::string_view name);

  /// The file asks for all its symbols at once: a filled slot says nothing.
  bool binds_now() const { return binds_now_; }

  /// Whether relocation types of its machine are known; false: slots() is empty.
  bool knows_machine() const { return knows_machine_; }

  std::uint64_t word() const { return encoding_.word(); }

  /// What the first mapping of the file begins with, in the file's own counting: the load bias is
  /// the start of that mapping less this.
  std::uint64_t first_address() const { return first_address_; }

  /// By address; each address once.
  std::span<const ImportSlot> slots() const { return slots_; }

  /// Symbols of others whose address lies in this file's data: they may be called without a slot.
  std::span<const std::uint32_t> addresses_taken() const { return addresses_taken_; }

  /// Variables of others whose value the loader copies into this file (R_*_COPY): this one defines
  /// them then, for all.
  std::span<const std::uint32_t> copies() const { return copies_; }

  std::uint32_t symbol_count() const { return symbol_count_; }

  /// All zero for an index outside the table.
  LinkSymbol symbol(std::uint32_t index) const;
  /// Empty: outside the string table.
  std::string_view name(std::uint32_t index) const;
  /// The version that is asked of others for it; empty: none.
  std::string_view needed_version(std::uint32_t index) const;

  /// The symbol of this file to which a reference binds, as glibc's do_lookup_x finds it.
  std::optional<std::uint32_t> find(const SymbolName& name) const;

 private:
  friend class LinkageReader;

  bool may_have(std::uint32_t hash) const;
  bool matches(std::uint32_t index, const SymbolName& name) const;
  bool has_version(std::uint32_t index, std::string_view version) const;
  std::optional<std::uint32_t> find_by_gnu_hash(const SymbolName& name) const;
  std::optional<std::uint32_t> find_by_hash(const SymbolName& name) const;

  Encoding encoding_;
  bool binds_now_ = false, knows_machine_ = false;
  std::uint64_t first_address_ = 0;
  std::vector<ImportSlot> slots_;
  std::vector<std::uint32_t> addresses_taken_, copies_;
  std::uint32_t symbol_count_ = 0;
  std::vector<std::byte> symbols_, strings_;
  std::vector<std::uint16_t> version_of_;  // per symbol, with the hidden bit; empty: no versions
  std::vector<std::string> defined_, needed_;  // by version index; empty: none of that number
  std::vector<std::uint64_t> bloom_;
  std::uint32_t bloom_shift_ = 0, first_hashed_ = 0;
  bool gnu_ = false;  // buckets and chains are those of DT_GNU_HASH
  std::vector<std::uint32_t> buckets_, chains_;
};

}  // namespace tracso::elf
