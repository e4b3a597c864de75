#include "elf/function_table.hpp"

#include "elf/file_image.hpp"

#include <elf.h>

#include <algorithm>
#include <tuple>

namespace tracso::elf {
namespace {

constexpr std::uint64_t most_symbol_table_bytes = std::uint64_t{96} << 20U;
constexpr std::uint32_t most_sections = 65535;
constexpr unsigned char type_ifunc = 10;  // STT_GNU_IFUNC
// Code without a size (assembly) reaches to the next symbol at most, and never this far.
constexpr std::uint64_t longest_unsized = 4096;
constexpr int most_nested = 64;  // functions that begin between an address and the one around it

struct TableSection {
  std::uint32_t type = 0, link = 0;
  std::uint64_t offset = 0, bytes = 0;
};

std::optional<TableSection> section_at(FileImage& image, std::uint32_t index) {
  const auto& header = image.header();
  const bool wide = header.encoding.wide;
  const std::size_t each = wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
  if (header.section_headers == 0 || index >= header.section_header_count) {
    return std::nullopt;
  }
  const auto bytes = image.at(header.section_headers + std::uint64_t{index} * each, each);
  if (!bytes) {
    return std::nullopt;  // cut off, as by some strip programs
  }
  const ByteView view = header.encoding.view(*bytes);
  return TableSection{view.get<std::uint32_t>(4).value_or(0),
                      view.get<std::uint32_t>(wide ? 40 : 24).value_or(0),
                      header.encoding.address(view, wide ? 24 : 16),
                      header.encoding.address(view, wide ? 32 : 20)};
}

Result<std::vector<std::byte>> content(const FileImage& image, const TableSection& section) {
  if (section.bytes > most_symbol_table_bytes) {
    return image.fault("a symbol table larger than any linker writes");
  }
  std::vector<std::byte> bytes(static_cast<std::size_t>(section.bytes));
  std::size_t done = 0;
  while (done < bytes.size()) {
    const auto got = image.read(section.offset + done, std::span(bytes).subspan(done));
    if (!got || *got == 0) {
      return got ? image.fault("a symbol table leads out of the file") : got.error();
    }
    done += *got;
  }
  return bytes;
}

}  // namespace

void FunctionTable::add(std::span<const std::byte> symbols, Encoding encoding, std::uint8_t table) {
  const bool wide = encoding.wide;
  const std::size_t each = wide ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
  for (std::size_t at = each; at + each <= symbols.size(); at += each) {
    const ByteView view = encoding.view(symbols.subspan(at, each));
    const auto info = view.get<std::uint8_t>(wide ? 4 : 12).value_or(0);
    const auto section = view.get<std::uint16_t>(wide ? 6 : 14).value_or(0);
    const auto type = ELF64_ST_TYPE(info);  // the same in both classes
    if (section != SHN_UNDEF && (type == STT_FUNC || type == type_ifunc)) {
      functions_.push_back({encoding.address(view, wide ? 8 : 4),
                            encoding.address(view, wide ? 16 : 8),
                            view.get<std::uint32_t>(0).value_or(0),
                            table,
                            static_cast<std::uint8_t>(ELF64_ST_BIND(info))});
    }
  }
}

Result<FunctionTable> FunctionTable::read(std::unique_ptr<File> file, std::string_view name) {
  FunctionTable found(std::move(file));
  auto image = FileImage::open(*found.file_, name);
  if (!image) {
    return image.error();
  }
  for (std::uint32_t i = 0;
       i < std::min<std::uint32_t>(image->header().section_header_count, most_sections);
       ++i) {
    const auto section = section_at(*image, i);
    if (!section || (section->type != SHT_SYMTAB && section->type != SHT_DYNSYM)) {
      continue;
    }
    const auto strings = section_at(*image, section->link);
    const auto symbols = content(*image, *section);
    if (!strings || !symbols) {
      return symbols ? image->fault("a symbol table without names") : symbols.error();
    }
    const std::uint8_t table = section->type == SHT_SYMTAB ? 0 : 1;
    found.strings_.at(table) = {strings->offset, strings->bytes};
    found.add(*symbols, image->header().encoding, table);
  }
  // Of several names the weak one is the public one in a C library ("select" beside "__select"),
  // then the first.
  std::reverse(found.functions_.begin(), found.functions_.end());
  std::stable_sort(found.functions_.begin(),
                   found.functions_.end(),
                   [](const Function& one, const Function& other) {
                     return std::tie(one.address, one.binding) <
                            std::tie(other.address, other.binding);
                   });
  return found;
}

std::string FunctionTable::name_of(const Function& function) const {
  const auto& strings = strings_.at(function.table);
  std::string name;
  while (function.name + name.size() < strings.bytes && name.size() < longest_text) {
    std::array<char, 256> piece{};
    const auto room =
        std::min<std::uint64_t>(piece.size(), strings.bytes - function.name - name.size());
    const auto got = file_->read_at(strings.offset + function.name + name.size(),
                                    std::as_writable_bytes(std::span(piece).first(room)));
    const auto end =
        piece.begin() + static_cast<std::ptrdiff_t>(got ? std::min<std::size_t>(*got, room) : 0);
    const auto stop = std::find(piece.begin(), end, '\0');
    name.append(piece.begin(), stop);
    if (stop != end) {
      return name;
    }
    if (end == piece.begin()) {
      break;
    }
  }
  return "";  // not ended: no name
}

std::optional<DefinedFunction> FunctionTable::at(std::uint64_t address) const {
  auto after = std::upper_bound(
      functions_.begin(), functions_.end(), address, [](std::uint64_t value, const Function& one) {
        return value < one.address;
      });
  for (int i = 0; i < most_nested && after != functions_.begin(); ++i) {
    const auto& one = *--after;
    if (address - one.address < (one.size == 0 ? longest_unsized : one.size)) {
      return DefinedFunction{one.address, name_of(one)};
    }
  }
  return std::nullopt;
}

}  // namespace tracso::elf
