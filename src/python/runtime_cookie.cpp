#include "python/runtime_cookie.hpp"

#include "base/byte_view.hpp"

#include <algorithm>
#include <string_view>

namespace tracso::python {
namespace {

constexpr std::uint64_t search_limit = std::uint64_t{64} << 20;
constexpr std::uint64_t piece_bytes = std::uint64_t{1} << 16;
constexpr std::uint64_t head_bytes = 24;  // cookie, version, free-threaded flag
constexpr std::string_view cookie = "xdebugpy";

// The words behind the letters must fit too: the letters alone also stand in debuggers.
std::uint32_t version_behind(const ByteView& view, std::uint64_t offset) {
  const auto version = view.get<std::uint64_t>(offset + 8).value_or(0);
  const auto free_threaded = view.get<std::uint64_t>(offset + 16).value_or(2);
  const bool plausible = version >> 24U == 3 && free_threaded <= 1;
  return plausible ? static_cast<std::uint32_t>(version) : 0;
}

void search(const ProcessSource& process,
            const Mapping& mapping,
            std::vector<RuntimeCookie>& found) {
  std::string piece;
  for (auto at = mapping.start; at < mapping.end && found.size() < 16; at += piece_bytes) {
    // Pieces overlap, so a structure on their border is seen whole.
    piece.resize(static_cast<std::size_t>(std::min(piece_bytes + head_bytes, mapping.end - at)));
    if (!process.read_memory(at, std::as_writable_bytes(std::span(piece)))) {
      return;
    }
    const ByteView view(piece);
    for (auto hit = piece.find(cookie); hit != std::string::npos && hit < piece_bytes;
         hit = piece.find(cookie, hit + 1)) {
      const auto version = hit % 8 == 0 ? version_behind(view, hit) : 0;
      if (version != 0) {
        found.push_back({at + hit, version, mapping.name});
      }
    }
  }
}

}  // namespace

std::vector<RuntimeCookie> find_runtime_cookies(const ProcessSource& process,
                                                const std::vector<Mapping>& mappings) {
  std::vector<RuntimeCookie> found;
  std::uint64_t left = search_limit;
  for (const auto& mapping : mappings) {
    const std::uint64_t bytes = mapping.end - mapping.start;
    if (mapping.writable && mapping.has_file() && !mapping.shared && bytes <= left) {
      left -= bytes;
      search(process, mapping, found);
    }
  }
  return found;
}

}  // namespace tracso::python
