#pragma once
// Bounds-checked reading of foreign bytes in either byte order.

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace tracso {

/// Bytes that are never trusted: every read says whether it was inside.
class ByteView {
 public:
  explicit ByteView(std::span<const std::byte> bytes, std::endian order = std::endian::native)
      : bytes_(bytes), swap_(order != std::endian::native) {}

  explicit ByteView(std::string_view bytes, std::endian order = std::endian::native)
      : ByteView(std::as_bytes(std::span(bytes.data(), bytes.size())), order) {}

  std::size_t size() const { return bytes_.size(); }

  /// The integer at that offset; nullopt: not wholly inside.
  template <std::integral T>
  std::optional<T> get(std::uint64_t offset) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) {
      return std::nullopt;
    }
    T value{};
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return swap_ ? swapped(value) : value;
  }

  /// The bytes [offset, offset+count); empty if not wholly inside.
  std::span<const std::byte> slice(std::uint64_t offset, std::uint64_t count) const {
    if (offset > bytes_.size() || bytes_.size() - offset < count) {
      return {};
    }
    return bytes_.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(count));
  }

  /// The NUL-terminated text at that offset; nullopt: outside or not terminated inside.
  std::optional<std::string_view> text(std::uint64_t offset) const {
    if (offset >= bytes_.size()) {
      return std::nullopt;
    }
    const auto* start = reinterpret_cast<const char*>(bytes_.data()) + offset;
    const std::size_t room = bytes_.size() - static_cast<std::size_t>(offset);
    const void* end = std::memchr(start, 0, room);
    if (end == nullptr) {
      return std::nullopt;
    }
    return std::string_view(start, static_cast<std::size_t>(static_cast<const char*>(end) - start));
  }

 private:
  template <std::integral T>
  static T swapped(T value) {
    std::byte raw[sizeof(T)];
    std::memcpy(raw, &value, sizeof value);
    for (std::size_t i = 0; i < sizeof(T) / 2; ++i) {
      std::swap(raw[i], raw[sizeof(T) - 1 - i]);
    }
    std::memcpy(&value, raw, sizeof value);
    return value;
  }

  std::span<const std::byte> bytes_;
  bool swap_;
};

}  // namespace tracso
