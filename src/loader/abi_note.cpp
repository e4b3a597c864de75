#include "loader/abi_note.hpp"

#include "base/byte_view.hpp"
#include "elf/layout.hpp"

#include <fmt/format.h>

#include <elf.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <vector>

namespace tracso::loader {
namespace {

constexpr std::uint64_t most_note_bytes = 64 * 1024;
constexpr std::uint64_t note_header = 12;
constexpr std::uint64_t abi_tag_bytes = 32;  // header, "GNU", four words
constexpr std::uint32_t system_of_linux = 0;

using Bytes = std::vector<std::byte>;

// A piece of the file, out of its first bytes where they reach; empty: the file has no such piece.
Bytes piece_of(const File& file,
               std::span<const std::byte> start,
               std::uint64_t offset,
               std::uint64_t count) {
  if (offset <= start.size() && count <= start.size() - offset) {
    const auto part =
        start.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(count));
    return Bytes(part.begin(), part.end());
  }
  Bytes bytes(static_cast<std::size_t>(count));
  const auto got = file.read_at(offset, bytes);
  return got && *got == count ? bytes : Bytes();
}

std::uint64_t aligned(std::uint64_t bytes, std::uint64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

// Where the ABI tag stands in a segment of notes.
std::optional<std::uint64_t> find_tag(const ByteView& notes,
                                      std::uint64_t bytes,
                                      std::uint64_t alignment) {
  for (std::uint64_t at = 0; at + abi_tag_bytes <= bytes;) {
    const auto owner_bytes = notes.get<std::uint32_t>(at).value_or(0);
    const auto content_bytes = notes.get<std::uint32_t>(at + 4).value_or(0);
    const auto type = notes.get<std::uint32_t>(at + 8).value_or(0);
    const bool is_gnu = owner_bytes == 4 && notes.text(at + note_header) == "GNU";
    if (is_gnu && content_bytes == 16 && type == NT_GNU_ABI_TAG) {
      return at;
    }
    at += aligned(aligned(note_header + owner_bytes, alignment) + content_bytes, alignment);
  }
  return std::nullopt;
}

std::string refusal_of(const ByteView& notes, std::uint64_t tag, std::uint32_t kernel) {
  const auto word = [&](std::uint64_t number) {
    return notes.get<std::uint32_t>(tag + note_header + 4 + 4 * number).value_or(0);
  };
  if (word(0) != system_of_linux) {
    return fmt::format("its ABI tag is for another system than Linux ({})", word(0));
  }
  const std::uint32_t wanted =
      ((word(1) & 0xffU) << 16U) | ((word(2) & 0xffU) << 8U) | (word(3) & 0xffU);
  return kernel != 0 && kernel < wanted
             ? fmt::format("its ABI tag wants Linux {}.{}.{} or later", word(1), word(2), word(3))
             : "";
}

}  // namespace

std::string abi_note_refusal(const File& file,
                             std::span<const std::byte> start,
                             const ProgramKind& kind,
                             std::uint32_t kernel) {
  const elf::Encoding encoding{
      kind.elf_class == ElfClass::elf64,
      kind.byte_order == ByteOrder::little ? std::endian::little : std::endian::big};
  const ByteView header = encoding.view(start);
  const std::uint64_t each = elf::program_header_bytes(encoding);
  const std::uint64_t table = encoding.address(header, encoding.wide ? 32 : 28);
  const std::uint64_t count = header.get<std::uint16_t>(encoding.wide ? 56 : 44).value_or(0);
  const Bytes headers = piece_of(file, start, table, std::min<std::uint64_t>(count, 1024) * each);
  for (std::uint64_t at = 0; at + each <= headers.size(); at += each) {
    const auto raw =
        std::span(headers).subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(each));
    const elf::ProgramHeader segment = elf::parse_program_header(raw, encoding);
    const std::uint64_t alignment = encoding.address(encoding.view(raw), encoding.wide ? 48 : 28);
    if (segment.type != PT_NOTE || segment.file_bytes < abi_tag_bytes ||
        (alignment != 4 && alignment != 8) || segment.file_bytes > most_note_bytes) {
      continue;
    }
    const Bytes bytes = piece_of(file, start, segment.offset, segment.file_bytes);
    const ByteView notes = encoding.view(bytes);
    if (const auto tag = find_tag(notes, bytes.size(), alignment)) {
      return refusal_of(notes, *tag, kernel);
    }
  }
  return "";
}

}  // namespace tracso::loader
