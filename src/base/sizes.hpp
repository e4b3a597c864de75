#pragma once
// Bytes as people read them.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace tracso {

/// 1024-based: "17 B", "202.2 KB", "435.8 MB", "1.25 GB", "2.00 TB".
std::string size_text(std::uint64_t bytes);

/// Both as size_text() has them, with as many more decimals as tell two different sizes apart, or
/// in bytes: "1.00 MB" and "1.04 MB", "1048576 B" and "1048577 B". For a limit and what broke it.
std::pair<std::string, std::string> told_apart(std::uint64_t one, std::uint64_t other);

/// "500M", "1.5G", "4096", "64KB", "1 MB" to bytes; K M G T = 1024. nullopt: not a size.
std::optional<std::uint64_t> parse_size(std::string_view text);

}  // namespace tracso
