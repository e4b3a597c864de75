#pragma once
// An ELF object as it lies in the memory of a process: program headers, dynamic section, exported
// symbols. No file is opened, so deleted files, containers and memfds are no trouble.

#include "tracso/dynamic_section.hpp"
#include "tracso/result.hpp"
#include "tracso/target.hpp"

#include "elf/layout.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tracso::elf {

struct MemorySymbol {
  std::uint64_t address = 0;  ///< in the process, bias added
  std::uint64_t size = 0;
  std::uint8_t type = 0;  ///< STT_OBJECT 1, STT_FUNC 2
};

class MemoryImage {
 public:
  /// The object whose ELF header is mapped at `header` (first mapping of a file at offset 0).
  static Result<MemoryImage> at_header(const ProcessSource& process, std::uint64_t header);
  /// The object whose program headers lie at `phdr` (AT_PHDR, AT_PHNUM), as 64 or 32 bit.
  static Result<MemoryImage> at_program_headers(const ProcessSource& process,
                                                std::uint64_t phdr,
                                                std::uint64_t count,
                                                ElfClass elf_class);
  /// The object of a link map entry: its bias (l_addr) and the address of its dynamic section
  /// (l_ld).
  static Result<MemoryImage> at_dynamic(const ProcessSource& process,
                                        std::uint64_t bias,
                                        std::uint64_t dynamic,
                                        ElfClass elf_class);

  ElfClass elf_class() const { return class_; }

  std::uint64_t bias() const { return bias_; }

  /// Empty when made by at_dynamic.
  const std::vector<ProgramHeader>& program_headers() const { return headers_; }

  /// Value of the first dynamic entry with that tag.
  std::optional<std::uint64_t> dynamic_value(std::int64_t tag) const;
  /// The strings of the dynamic section.
  Result<DynamicSection> dynamic_section(const ProcessSource& process) const;
  /// An exported symbol through DT_GNU_HASH or DT_HASH; bounded in time whatever the tables say.
  std::optional<MemorySymbol> symbol(const ProcessSource& process, std::string_view name) const;

 private:
  Result<Done> load_segment(const ProcessSource& process);
  Result<Done> load_dynamic(const ProcessSource& process, std::uint64_t most_bytes);
  /// A pointer of the dynamic section as an address in the process.
  std::uint64_t located(std::uint64_t value) const;
  std::optional<MemorySymbol> symbol_at(const ProcessSource& process,
                                        std::uint64_t index,
                                        std::string_view name) const;
  std::optional<MemorySymbol> gnu_hash_symbol(const ProcessSource& process,
                                              std::uint64_t table,
                                              std::string_view name) const;
  std::optional<MemorySymbol> hash_symbol(const ProcessSource& process,
                                          std::uint64_t table,
                                          std::string_view name) const;

  ElfClass class_ = ElfClass::elf64;
  std::uint64_t bias_ = 0;
  std::uint64_t dynamic_address_ = 0;  // 0: no dynamic section
  std::vector<ProgramHeader> headers_;
  std::vector<std::pair<std::int64_t, std::uint64_t>> dynamic_;
};

/// Reads a NUL-terminated text of at most `limit` bytes, across page ends; nullopt: unreadable or
/// not terminated.
std::optional<std::string> read_text(const ProcessSource& process,
                                     std::uint64_t address,
                                     std::size_t limit = 4096);

}  // namespace tracso::elf
