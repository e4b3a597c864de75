#pragma once
// The shapes of an ELF file in either class and byte order (System V gABI chapters 4 and 5). Tags
// and types have the names of <elf.h>, whose structs would fit one class and byte order only.

#include "tracso/dynamic_section.hpp"
#include "tracso/result.hpp"

#include "base/byte_view.hpp"

#include <bit>
#include <cstdint>
#include <span>
#include <string_view>

namespace tracso::elf {

/// The kernel takes no more than 64 KiB of program headers (fs/binfmt_elf.c), of 56 bytes each.
constexpr std::uint64_t most_program_headers = 65536 / 56;

/// How numbers are written in a file: 64 or 32 bit, and in which byte order.
struct Encoding {
  bool wide = true;
  std::endian order = std::endian::little;

  /// Bytes of an address.
  std::uint64_t word() const { return wide ? 8 : 4; }

  /// An address at `offset`; 0 outside the view, whose length the caller has checked.
  std::uint64_t address(const ByteView& view, std::uint64_t offset) const {
    return wide ? view.get<std::uint64_t>(offset).value_or(0)
                : view.get<std::uint32_t>(offset).value_or(0);
  }

  /// A view of bytes in this order.
  ByteView view(std::span<const std::byte> bytes) const { return ByteView(bytes, order); }
};

/// The ELF header.
struct FileHeader {
  Encoding encoding;
  std::uint8_t os_abi = 0;
  std::uint16_t type = 0, machine = 0;
  std::uint32_t flags = 0;
  std::uint64_t program_headers = 0, section_headers = 0;  ///< file offsets of the two tables
  std::uint16_t program_header_count = 0, section_header_count = 0;
};

/// One program header.
struct ProgramHeader {
  std::uint32_t type = 0, flags = 0;
  std::uint64_t offset = 0, address = 0, file_bytes = 0, memory_bytes = 0;
};

/// One entry of the dynamic section.
struct DynamicEntry {
  std::uint64_t tag = 0, value = 0;
};

constexpr std::uint64_t file_header_bytes(Encoding encoding) {
  return encoding.wide ? 64 : 52;
}

constexpr std::uint64_t program_header_bytes(Encoding encoding) {
  return encoding.wide ? 56 : 32;
}

/// The header at the start of a file (of `start` the first 64 bytes matter, fewer if the file is
/// shorter). malformed, with the words and in the order of glibc's open_verify (elf/dl-load.c).
Result<FileHeader> parse_file_header(std::span<const std::byte> start, std::string_view name);

/// The program header at the start of the bytes, which are program_header_bytes long.
ProgramHeader parse_program_header(std::span<const std::byte> bytes, Encoding encoding);

/// malformed: "cannot read ELF file NAME: REASON".
Error not_elf(std::string_view name, std::string_view reason);

}  // namespace tracso::elf
