#include "python/runtime_sections.hpp"

#include "base/byte_view.hpp"

#include <elf.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace tracso::python {
namespace {

// More than any real program has; a hostile header cannot make us read for long.
constexpr std::uint64_t section_limit = 4096;
constexpr std::uint64_t name_bytes_limit = std::uint64_t{1} << 20;
constexpr std::uint64_t table_bytes_limit = std::uint64_t{64} << 20;
constexpr std::string_view runtime_name = "_PyRuntime";

struct Section {
  std::uint32_t name = 0, type = 0, link = 0;
  std::uint64_t address = 0, offset = 0, bytes = 0;
};

std::string read_piece(const File& file, std::uint64_t offset, std::uint64_t bytes) {
  std::string text(static_cast<std::size_t>(bytes), '\0');
  std::size_t have = 0;
  while (have < text.size()) {
    const auto more =
        file.read_at(offset + have, std::as_writable_bytes(std::span(text)).subspan(have));
    if (!more || *more == 0) {
      return {};
    }
    have += *more;
  }
  return text;
}

std::vector<Section> read_sections(const File& file, std::uint32_t& names) {
  const std::string header = read_piece(file, 0, sizeof(Elf64_Ehdr));
  const ByteView view(header);
  if (header.compare(0, SELFMAG, ELFMAG) != 0 || header[EI_CLASS] != ELFCLASS64 ||
      header[EI_DATA] != ELFDATA2LSB) {
    return {};
  }
  const auto offset = view.get<std::uint64_t>(offsetof(Elf64_Ehdr, e_shoff)).value_or(0);
  const std::uint64_t count = view.get<std::uint16_t>(offsetof(Elf64_Ehdr, e_shnum)).value_or(0);
  const auto size = view.get<std::uint16_t>(offsetof(Elf64_Ehdr, e_shentsize)).value_or(0);
  names = view.get<std::uint16_t>(offsetof(Elf64_Ehdr, e_shstrndx)).value_or(0);
  if (offset == 0 || count > section_limit || size != sizeof(Elf64_Shdr)) {
    return {};
  }
  const std::string table = read_piece(file, offset, count * sizeof(Elf64_Shdr));
  const ByteView rows(table);
  std::vector<Section> sections;
  for (std::uint64_t at = 0; at < table.size(); at += sizeof(Elf64_Shdr)) {
    Section section;
    section.name = rows.get<std::uint32_t>(at).value_or(0);
    section.type = rows.get<std::uint32_t>(at + offsetof(Elf64_Shdr, sh_type)).value_or(0);
    section.link = rows.get<std::uint32_t>(at + offsetof(Elf64_Shdr, sh_link)).value_or(0);
    section.address = rows.get<std::uint64_t>(at + offsetof(Elf64_Shdr, sh_addr)).value_or(0);
    section.offset = rows.get<std::uint64_t>(at + offsetof(Elf64_Shdr, sh_offset)).value_or(0);
    section.bytes = rows.get<std::uint64_t>(at + offsetof(Elf64_Shdr, sh_size)).value_or(0);
    sections.push_back(section);
  }
  return sections;
}

// Linkers share the tails of strings, so the name may lie inside a longer one.
std::vector<std::uint32_t> offsets_of_name(const std::string& strings, std::string_view name) {
  const std::string wanted = std::string(name) + '\0';
  std::vector<std::uint32_t> offsets;
  for (auto at = strings.find(wanted); at != std::string::npos && offsets.size() < 64;
       at = strings.find(wanted, at + 1)) {
    offsets.push_back(static_cast<std::uint32_t>(at));
  }
  return offsets;
}

std::optional<std::uint64_t> in_symbol_table(const File& file,
                                             const Section& symbols,
                                             const Section& strings,
                                             std::string_view wanted) {
  if (symbols.bytes > table_bytes_limit || strings.bytes > table_bytes_limit) {
    return std::nullopt;
  }
  const auto names = offsets_of_name(read_piece(file, strings.offset, strings.bytes), wanted);
  if (names.empty()) {
    return std::nullopt;
  }
  const std::string table = read_piece(file, symbols.offset, symbols.bytes);
  const ByteView rows(table);
  for (std::uint64_t at = 0; at < table.size(); at += sizeof(Elf64_Sym)) {
    const auto name = rows.get<std::uint32_t>(at).value_or(0);
    const auto place = rows.get<std::uint16_t>(at + offsetof(Elf64_Sym, st_shndx)).value_or(0);
    const auto value = rows.get<std::uint64_t>(at + offsetof(Elf64_Sym, st_value)).value_or(0);
    if (place != SHN_UNDEF && value != 0 &&
        std::find(names.begin(), names.end(), name) != names.end()) {
      return value;
    }
  }
  return std::nullopt;
}

std::optional<std::uint64_t> in_symbol_tables(const File& file,
                                              const std::vector<Section>& sections,
                                              std::string_view name) {
  for (const auto& section : sections) {
    const auto found = section.type == SHT_SYMTAB && section.link < sections.size()
                           ? in_symbol_table(file, section, sections[section.link], name)
                           : std::nullopt;
    if (found) {
      return found;
    }
  }
  return std::nullopt;
}

std::optional<FileSection> named(const File& file,
                                 const std::vector<Section>& sections,
                                 std::uint32_t names_index,
                                 std::string_view name) {
  if (names_index >= sections.size() || sections[names_index].bytes > name_bytes_limit) {
    return std::nullopt;
  }
  const auto& names_section = sections[names_index];
  const std::string names = read_piece(file, names_section.offset, names_section.bytes);
  for (const auto& section : sections) {
    if (ByteView(names).text(section.name) == name && section.address != 0) {
      return FileSection{section.address, section.bytes};
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<FileSection> section_in_file(const File& file, std::string_view name) {
  std::uint32_t names_index = 0;
  const auto sections = read_sections(file, names_index);
  return named(file, sections, names_index, name);
}

std::optional<FileRuntime> runtime_in_file(const File& file, SymbolTables tables) {
  std::uint32_t names_index = 0;
  const auto sections = read_sections(file, names_index);
  if (const auto section = named(file, sections, names_index, ".PyRuntime")) {
    return FileRuntime{section->address, "section"};
  }
  const auto found = tables == SymbolTables::read ? in_symbol_tables(file, sections, runtime_name)
                                                  : std::optional<std::uint64_t>();
  return found ? std::optional(FileRuntime{*found, "symbol table"}) : std::nullopt;
}

std::optional<std::uint64_t> symbol_in_file(const File& file, std::string_view name) {
  std::uint32_t names_index = 0;
  return in_symbol_tables(file, read_sections(file, names_index), name);
}

}  // namespace tracso::python
