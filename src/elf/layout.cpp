#include "elf/layout.hpp"

#include <elf.h>

#include <cstring>
#include <optional>
#include <string>

namespace tracso::elf {
namespace {

constexpr std::uint64_t least_header_bytes = 52;   // a 32-bit file
constexpr std::uint64_t native_header_bytes = 64;  // what the loader of a 64-bit machine asks for

std::optional<std::string_view> ident_fault(const ByteView& view) {
  const auto magic = view.slice(0, SELFMAG);
  if (magic.empty() || std::memcmp(magic.data(), ELFMAG, SELFMAG) != 0) {
    return view.size() < native_header_bytes ? "file too short" : "invalid ELF header";
  }
  const std::uint8_t elf_class = view.get<std::uint8_t>(EI_CLASS).value_or(0);
  if (elf_class != ELFCLASS32 && elf_class != ELFCLASS64) {
    return "wrong ELF class";
  }
  const std::uint8_t order = view.get<std::uint8_t>(EI_DATA).value_or(0);
  if (order != ELFDATA2LSB && order != ELFDATA2MSB) {
    return "ELF file data encoding not little-endian";
  }
  if (view.get<std::uint8_t>(EI_VERSION) != EV_CURRENT) {
    return "ELF file version ident does not match current one";
  }
  return std::nullopt;
}

// Behind e_entry all fields of the two classes have the same order.
FileHeader parse_fields(const ByteView& view, Encoding encoding) {
  const std::uint64_t word = encoding.word();
  const std::uint64_t tail = 24 + 3 * word;
  FileHeader header;
  header.encoding = encoding;
  header.os_abi = view.get<std::uint8_t>(EI_OSABI).value_or(0);
  header.type = view.get<std::uint16_t>(16).value_or(0);
  header.machine = view.get<std::uint16_t>(18).value_or(0);
  header.program_headers = encoding.address(view, 24 + word);
  header.section_headers = encoding.address(view, 24 + 2 * word);
  header.flags = view.get<std::uint32_t>(tail).value_or(0);
  header.program_header_count = view.get<std::uint16_t>(tail + 8).value_or(0);
  header.section_header_count = view.get<std::uint16_t>(tail + 12).value_or(0);
  return header;
}

}  // namespace

Error not_elf(std::string_view name, std::string_view reason) {
  return {ErrorKind::malformed, "read ELF file", std::string(name), std::string(reason), ""};
}

Result<FileHeader> parse_file_header(std::span<const std::byte> start, std::string_view name) {
  if (start.size() < least_header_bytes) {
    return not_elf(name, "file too short");
  }
  if (const auto fault = ident_fault(ByteView(start))) {
    return not_elf(name, *fault);
  }
  const ByteView ident(start);
  const Encoding encoding{
      ident.get<std::uint8_t>(EI_CLASS) == ELFCLASS64,
      ident.get<std::uint8_t>(EI_DATA) == ELFDATA2LSB ? std::endian::little : std::endian::big};
  if (start.size() < file_header_bytes(encoding)) {
    return not_elf(name, "file too short");
  }
  const ByteView view = encoding.view(start);
  const FileHeader header = parse_fields(view, encoding);
  if (view.get<std::uint32_t>(20) != std::uint32_t{EV_CURRENT}) {
    return not_elf(name, "ELF file version does not match current one");
  }
  if (header.type != ET_EXEC && header.type != ET_DYN) {
    return not_elf(name, "only ET_DYN and ET_EXEC can be loaded");
  }
  const std::uint64_t entry_bytes =
      view.get<std::uint16_t>(24 + 3 * encoding.word() + 6).value_or(0);
  if (entry_bytes != program_header_bytes(encoding)) {
    return not_elf(name, "ELF file's phentsize not the expected size");
  }
  return header;
}

ProgramHeader parse_program_header(std::span<const std::byte> bytes, Encoding encoding) {
  const ByteView view = encoding.view(bytes);
  const std::uint64_t word = encoding.word();
  // The 64-bit form moved p_flags in front of p_offset, so that the addresses stay aligned.
  const std::uint64_t start = encoding.wide ? 8 : 4;
  ProgramHeader header;
  header.type = view.get<std::uint32_t>(0).value_or(0);
  header.flags = view.get<std::uint32_t>(encoding.wide ? 4 : 24).value_or(0);
  header.offset = encoding.address(view, start);
  header.address = encoding.address(view, start + word);
  header.file_bytes = encoding.address(view, start + 3 * word);
  header.memory_bytes = encoding.address(view, start + 4 * word);
  return header;
}

}  // namespace tracso::elf
