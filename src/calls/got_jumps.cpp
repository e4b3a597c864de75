#include "calls/got_jumps.hpp"

#include "elf/file_image.hpp"

#include <elf.h>

#include <cstddef>
#include <cstring>
#include <utility>

namespace tracso::calls {

void find_jumps(const elf::CodePiece& piece,
                std::uint8_t kind,
                const std::function<void(std::uint64_t, std::uint64_t)>& found) {
  constexpr std::size_t bytes = 6;
  for (std::size_t i = 0; i + bytes <= piece.bytes.size(); ++i) {
    if (piece.bytes[i] != std::byte{0xff} || piece.bytes[i + 1] != std::byte{kind}) {
      continue;
    }
    std::int32_t distance = 0;
    std::memcpy(&distance, &piece.bytes[i + 2], sizeof distance);
    const auto word =
        piece.address + i + bytes + static_cast<std::uint64_t>(std::int64_t{distance});
    const bool prefixed = i > 0 && kind == 0x25 && piece.bytes[i - 1] == std::byte{0xf2};
    found(piece.address + i - (prefixed ? 1 : 0), word);
  }
}

std::vector<elf::CodePiece> code_segments(const File& file, std::string_view name) {
  std::vector<elf::CodePiece> pieces;
  const auto image = elf::FileImage::open(file, name);
  if (!image) {
    return pieces;
  }
  constexpr std::uint64_t most = std::uint64_t{512} << 20U;
  for (const auto& header : image->program_headers()) {
    if (header.type != PT_LOAD || (header.flags & PF_X) == 0 || header.file_bytes > most) {
      continue;
    }
    elf::CodePiece piece{header.address,
                         std::vector<std::byte>(static_cast<std::size_t>(header.file_bytes))};
    const auto got = image->read(header.offset, piece.bytes);
    piece.bytes.resize(got ? *got : 0);
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

}  // namespace tracso::calls
