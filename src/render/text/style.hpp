#pragma once
// What a terminal needs beside words: colour that only repeats what the words say, and the
// characters of bars and trees.

#include <string>
#include <string_view>

namespace tracso {

enum class Style { plain, bold, dim, red, green, yellow, cyan };

/// The text in the style's ANSI escapes (ECMA-48 SGR); unchanged where color is off or style plain.
std::string paint(bool color, Style style, std::string_view text);

/// The drawing characters of a UTF-8 terminal, or their ASCII stand-ins.
struct Glyphs {
  std::string_view dot, ellipsis, bar_full, bar_empty, tee, corner, trunk, gap, arrow;
};

const Glyphs& glyphs(bool unicode);

}  // namespace tracso
