#pragma once
// Bytes as people read them.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tracso {

/// 1024-based: "17 B", "202.2 KB", "435.8 MB", "1.25 GB".
std::string size_text(std::uint64_t bytes);

/// "500M", "1.5G", "4096", "64KB", "1 MB" to bytes; K M G = 1024. nullopt: not a size.
std::optional<std::uint64_t> parse_size(std::string_view text);

}  // namespace tracso
