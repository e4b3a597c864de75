#pragma once
// What `readelf -dW FILE...` prints, read with distrust: names and strings of a file come out raw,
// so a soname with a newline can look like a row, a header or the next file.
//
// The rule that makes forging fail: every line must be one that readelf writes at that place. The
// header of each file must stand there exactly once and in the order asked for, "contains N
// entries" must be followed by exactly N rows, and nothing but empty lines may follow. A forged
// line is always one too many.

#include "tracso/dynamic_section.hpp"
#include "tracso/result.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tracso::elf {

/// The part of the text that speaks of one file.
struct ReadelfFacts {
  std::uint64_t offset = 0;  ///< file offset of the dynamic section
  DynamicSection dynamic;
  bool operator==(const ReadelfFacts&) const = default;
};

/// One Result per path, in the order in which readelf was given them (no path twice, none with a
/// newline). malformed: the text is not what readelf writes about such a file, or holds letters
/// that readelf may not write as they are.
std::vector<Result<ReadelfFacts>> parse_readelf(std::string_view text,
                                                std::span<const std::string> paths);

/// readelf writes the text as it is, so it can be told from its output: printable ASCII without
/// '^'.
bool is_plain(std::string_view text);

}  // namespace tracso::elf
