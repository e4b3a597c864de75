#include "os/archive.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>

namespace tracso::os {
namespace {

constexpr std::size_t block = 512;
// A recording of a large process has a few MB. A file of 600 KB can hold a thousand times as much.
constexpr std::size_t largest = std::size_t{1} << 28;
constexpr const char* largest_in_words = "256 MB";

// Offsets of the ustar header (POSIX.1-2017, pax, "ustar Interchange Format").
constexpr std::size_t name_at = 0;
constexpr std::size_t name_bytes = 100;
constexpr std::size_t mode_at = 100;
constexpr std::size_t owner_at = 108;
constexpr std::size_t group_at = 116;
constexpr std::size_t size_at = 124;
constexpr std::size_t time_at = 136;
constexpr std::size_t checksum_at = 148;
constexpr std::size_t type_at = 156;
constexpr std::size_t magic_at = 257;

Error malformed(std::string reason) {
  return {ErrorKind::malformed, "open", "the recording", std::move(reason), ""};
}

void put(std::string& header, std::size_t at, std::string_view text) {
  header.replace(at, text.size(), text);
}

std::string tar_header(std::string_view name, std::size_t bytes) {
  std::string header(block, '\0');
  put(header, name_at, name.substr(0, name_bytes));
  put(header, mode_at, "0000600");
  put(header, owner_at, "0000000");
  put(header, group_at, "0000000");
  put(header, size_at, fmt::format("{:011o}", bytes));
  put(header, time_at, "00000000000");
  put(header, checksum_at, "        ");
  put(header, type_at, "0");
  put(header, magic_at, std::string_view("ustar\00000", 8));
  unsigned sum = 0;
  for (const char c : header) {
    sum += static_cast<unsigned char>(c);
  }
  put(header, checksum_at, fmt::format("{:06o}", sum));
  header[checksum_at + 6] = '\0';
  return header;
}

// windowBits 15 + 16 asks zlib for the gzip format.
constexpr int gzip_window = 15 + 16;

Result<std::string> compress(const std::string& plain) {
  z_stream stream{};
  if (deflateInit2(
          &stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, gzip_window, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    return Error{ErrorKind::failed, "compress", "the recording", "zlib has no memory", ""};
  }
  std::string packed(deflateBound(&stream, plain.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(
      const_cast<char*>(plain.data()));  // NOLINT: zlib's input is not const
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int status = deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  if (status != Z_STREAM_END) {
    return Error{ErrorKind::failed, "compress", "the recording", "zlib gave up", ""};
  }
  return packed;
}

// Hands out what is inside, piece by piece, and gives up behind the largest size.
Result<Done> unpack(std::string_view packed,
                    const std::function<void(std::string_view)>& take_piece) {
  z_stream stream{};
  if (inflateInit2(&stream, gzip_window) != Z_OK) {
    return malformed("zlib has no memory");
  }
  stream.next_in = reinterpret_cast<Bytef*>(
      const_cast<char*>(packed.data()));  // NOLINT: zlib's input is not const
  stream.avail_in = static_cast<uInt>(std::min<std::size_t>(packed.size(), UINT32_MAX));
  std::array<char, 65536> buffer{};
  std::size_t bytes = 0;
  int status = Z_OK;
  while (status == Z_OK && bytes <= largest) {
    stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream.avail_out = static_cast<uInt>(buffer.size());
    status = inflate(&stream, Z_NO_FLUSH);
    const std::size_t piece = buffer.size() - stream.avail_out;
    bytes += piece;
    take_piece({buffer.data(), piece});
  }
  inflateEnd(&stream);
  if (bytes > largest) {
    return malformed(fmt::format("it holds more than {}", largest_in_words));
  }
  return status == Z_STREAM_END ? Result<Done>(Done{})
                                : malformed("it is not gzip, or it is cut short");
}

}  // namespace

bool is_gzip(std::string_view bytes) {
  return bytes.starts_with("\x1f\x8b");
}

Result<std::string> decompress(std::string_view packed) {
  // First only its size: a bomb must not cost the memory it asks for, nor a string that doubles.
  std::size_t bytes = 0;
  const auto count = [&](std::string_view piece) { bytes += piece.size(); };
  if (auto done = unpack(packed, count); !done) {
    return done.error();
  }
  std::string plain;
  plain.reserve(bytes);
  auto done = unpack(packed, [&](std::string_view piece) { plain.append(piece); });
  return done ? Result<std::string>(std::move(plain)) : done.error();
}

Result<std::string> make_archive(const std::map<std::string, std::string>& parts) {
  std::string tar;
  for (const auto& [name, content] : parts) {
    tar += tar_header(name, content.size());
    tar += content;
    tar.append((block - content.size() % block) % block, '\0');
  }
  tar.append(2 * block, '\0');
  if (tar.size() > largest) {
    return Error{ErrorKind::unsupported,
                 "write",
                 "the recording",
                 fmt::format("it would hold more than {}, which no tracso reads", largest_in_words),
                 "-o DIR/ writes a folder, which has no such limit"};
  }
  return compress(tar);
}

Result<std::map<std::string, std::string>> open_archive(std::string_view bytes) {
  const auto tar = decompress(bytes);
  return tar ? open_tar(*tar) : Result<std::map<std::string, std::string>>(tar.error());
}

Result<std::map<std::string, std::string>> open_tar(std::string_view rest) {
  std::map<std::string, std::string> parts;
  while (rest.size() >= block && rest.front() != '\0') {
    const std::string_view header = rest.substr(0, block);
    const std::string_view name = header.substr(name_at, name_bytes);
    const auto digits = split_words(header.substr(size_at, 12), std::string_view(" \0", 2));
    const auto size = parse_unsigned(digits.empty() ? "" : digits.front(), 8);
    if (header.substr(magic_at, 5) != "ustar" || !size || *size > rest.size() - block) {
      return malformed("it is not a tar archive, or it is cut short");
    }
    parts[std::string(base_name(name.substr(0, name.find('\0'))))] =
        rest.substr(block, static_cast<std::size_t>(*size));
    const std::size_t padded = (static_cast<std::size_t>(*size) + block - 1) / block * block;
    rest.remove_prefix(std::min(rest.size(), block + padded));
  }
  return parts;
}

}  // namespace tracso::os
