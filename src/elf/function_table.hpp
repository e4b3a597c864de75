#pragma once
// The functions of a file by address: an address back to a name. All symbols are read once (hash
// tables lead only from names to addresses), the text of a name when it is asked for.

#include "tracso/result.hpp"
#include "tracso/target.hpp"

#include "elf/layout.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tracso::elf {

/// A function of a file; addresses as in the file.
struct DefinedFunction {
  std::uint64_t address = 0;
  std::string name;
  bool operator==(const DefinedFunction&) const = default;
};

class FunctionTable {
 public:
  /// Those of .symtab (also static ones; most libraries come without) and of .dynsym. Empty: the
  /// file has no section headers. malformed: not an ELF file, or its tables lead out of it.
  static Result<FunctionTable> read(std::unique_ptr<File> file, std::string_view name);

  /// The innermost function that contains the address; nullopt: none does.
  std::optional<DefinedFunction> at(std::uint64_t address) const;

  std::size_t size() const { return functions_.size(); }

 private:
  struct Function {
    std::uint64_t address = 0, size = 0;
    std::uint32_t name = 0;    // offset into its string table
    std::uint8_t table = 0;    // 0 .symtab, 1 .dynsym
    std::uint8_t binding = 0;  // how public the name is: 0 local, 1 global, 2 weak
  };

  struct Strings {
    std::uint64_t offset = 0, bytes = 0;  // in the file
  };

  explicit FunctionTable(std::unique_ptr<File> file) : file_(std::move(file)) {}

  void add(std::span<const std::byte> symbols, Encoding encoding, std::uint8_t table);
  std::string name_of(const Function& function) const;

  std::unique_ptr<File> file_;
  std::vector<Function> functions_;  // by address; of one address the most public name last
  std::array<Strings, 2> strings_;
};

}  // namespace tracso::elf
