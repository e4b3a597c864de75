#include "elf/function_symbols.hpp"

#include "elf/file_image.hpp"
#include "elf/file_tables.hpp"

#include <elf.h>

#include <algorithm>
#include <tuple>

namespace tracso::elf {
namespace {

constexpr std::uint64_t most_table_of_file = std::uint64_t{512} << 20U;
constexpr std::uint64_t most_code = std::uint64_t{16} << 20U;

struct Section {
  std::uint32_t name = 0, type = 0, link = 0;
  std::uint64_t address = 0, offset = 0, bytes = 0;
};

Result<std::vector<std::byte>> bytes_at(const FileImage& image,
                                        std::uint64_t offset,
                                        std::uint64_t count,
                                        std::uint64_t most) {
  if (count > most) {
    return image.fault("a table is larger than any linker writes");
  }
  // What the file does not have is not asked memory for.
  std::vector<std::byte> bytes;
  constexpr std::uint64_t piece = std::uint64_t{1} << 20U;
  while (bytes.size() < count) {
    const auto had = bytes.size();
    bytes.resize(static_cast<std::size_t>(std::min(count, had + piece)));
    const auto got = image.read(offset + had, std::span(bytes).subspan(had));
    if (!got) {
      return got.error();
    }
    if (*got != bytes.size() - had) {
      return image.fault("a table leads out of the file");
    }
  }
  return bytes;
}

Result<std::vector<Section>> sections_of(const FileImage& image) {
  const FileHeader& header = image.header();
  std::vector<Section> sections;
  if (!header.encoding.wide || header.section_headers == 0) {
    return sections;
  }
  const auto bytes = bytes_at(image,
                              header.section_headers,
                              std::uint64_t{header.section_header_count} * sizeof(Elf64_Shdr),
                              most_code);
  if (!bytes) {
    return bytes.error();
  }
  const ByteView view = header.encoding.view(*bytes);
  for (std::uint64_t i = 0; i < header.section_header_count; ++i) {
    const auto at = i * sizeof(Elf64_Shdr);
    sections.push_back({view.get<std::uint32_t>(at).value_or(0),
                        view.get<std::uint32_t>(at + 4).value_or(0),
                        view.get<std::uint32_t>(at + 40).value_or(0),
                        view.get<std::uint64_t>(at + 16).value_or(0),
                        view.get<std::uint64_t>(at + 24).value_or(0),
                        view.get<std::uint64_t>(at + 32).value_or(0)});
  }
  return sections;
}

std::string_view text_in(std::span<const std::byte> strings, std::uint64_t offset) {
  if (offset >= strings.size()) {
    return {};
  }
  const std::string_view all(reinterpret_cast<const char*>(strings.data()),  // NOLINT: as text
                             strings.size());
  const auto end = all.find('\0', offset);
  return end == std::string_view::npos ? std::string_view() : all.substr(offset, end - offset);
}

Result<Done> add_functions(const FileImage& image,
                           const std::vector<Section>& sections,
                           const Section& table,
                           std::vector<FunctionSymbol>& into) {
  if (table.link >= sections.size() || table.bytes / sizeof(Elf64_Sym) > most_symbols) {
    return image.fault("its symbol table is not one");
  }
  const auto& of_names = sections[table.link];
  const auto symbols = bytes_at(image, table.offset, table.bytes, most_table_of_file);
  const auto strings = bytes_at(image, of_names.offset, of_names.bytes, most_table_of_file);
  if (!symbols || !strings) {
    return symbols ? strings.error() : symbols.error();
  }
  const ByteView view = image.encoding().view(*symbols);
  for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= symbols->size(); at += sizeof(Elf64_Sym)) {
    const auto type = ELF64_ST_TYPE(view.get<std::uint8_t>(at + 4).value_or(0));
    const auto section = view.get<std::uint16_t>(at + 6).value_or(0);
    const auto address = view.get<std::uint64_t>(at + 8).value_or(0);
    const auto name = text_in(*strings, view.get<std::uint32_t>(at).value_or(0));
    if ((type == STT_FUNC || type == STT_GNU_IFUNC) && section != SHN_UNDEF && address != 0 &&
        !name.empty() && name.size() <= longest_text) {
      into.push_back({address, std::string(name.substr(0, name.find('@'))), type == STT_GNU_IFUNC});
    }
  }
  return Done{};
}

}  // namespace

Result<std::vector<FunctionSymbol>> function_symbols(const File& file, std::string_view name) {
  const auto image = FileImage::open(file, name);
  const auto sections = image ? sections_of(*image) : Result<std::vector<Section>>(image.error());
  if (!sections) {
    return sections.error();
  }
  std::vector<FunctionSymbol> all;
  std::vector<FunctionSymbol> inner;
  for (const Section& section : *sections) {
    if (section.type != SHT_SYMTAB && section.type != SHT_DYNSYM) {
      continue;
    }
    auto& into = section.type == SHT_DYNSYM ? all : inner;
    if (const auto done = add_functions(*image, *sections, section, into); !done) {
      return done.error();
    }
  }
  const auto by_address = [](const FunctionSymbol& one, const FunctionSymbol& other) {
    return std::tuple(one.address, one.name.size(), one.name) <
           std::tuple(other.address, other.name.size(), other.name);
  };
  std::sort(all.begin(), all.end(), by_address);
  std::sort(inner.begin(), inner.end(), by_address);
  all.insert(
      all.end(), std::make_move_iterator(inner.begin()), std::make_move_iterator(inner.end()));
  std::stable_sort(all.begin(), all.end(), [](const auto& one, const auto& other) {
    return one.address < other.address;
  });
  all.erase(
      std::unique(all.begin(),
                  all.end(),
                  [](const auto& one, const auto& other) { return one.address == other.address; }),
      all.end());
  return all;
}

Result<std::vector<CodePiece>> plt_code(const File& file, std::string_view name) {
  const auto image = FileImage::open(file, name);
  const auto sections = image ? sections_of(*image) : Result<std::vector<Section>>(image.error());
  if (!sections) {
    return sections.error();
  }
  std::vector<CodePiece> pieces;
  constexpr std::uint64_t place_of_index = 62;  // e_shstrndx
  const auto index_bytes = bytes_at(*image, place_of_index, sizeof(std::uint16_t), most_code);
  const auto index = index_bytes ? image->encoding().view(*index_bytes).get<std::uint16_t>(0)
                                 : std::optional<std::uint16_t>();
  if (!index || *index >= sections->size()) {
    return pieces;
  }
  const auto& of_names = (*sections)[*index];
  const auto names = bytes_at(*image, of_names.offset, of_names.bytes, most_code);
  if (!names) {
    return names.error();
  }
  for (const Section& section : *sections) {
    const auto title = text_in(*names, section.name);
    if (section.type == SHT_PROGBITS && title.starts_with(".plt")) {
      auto bytes = bytes_at(*image, section.offset, section.bytes, most_code);
      if (!bytes) {
        return bytes.error();
      }
      pieces.push_back({section.address, std::move(*bytes)});
    }
  }
  return pieces;
}

}  // namespace tracso::elf
