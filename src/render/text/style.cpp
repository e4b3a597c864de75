#include "render/text/style.hpp"

namespace tracso {
namespace {

std::string_view escape(Style style) {
  switch (style) {
    case Style::plain:
      return "";
    case Style::bold:
      return "\x1b[1m";
    case Style::dim:
      return "\x1b[2m";
    case Style::red:
      return "\x1b[31m";
    case Style::green:
      return "\x1b[32m";
    case Style::yellow:
      return "\x1b[33m";
    case Style::cyan:
      return "\x1b[36m";
  }
  return "";
}

}  // namespace

std::string paint(bool color, Style style, std::string_view text) {
  if (!color || style == Style::plain || text.empty()) {
    return std::string(text);
  }
  return std::string(escape(style)).append(text).append("\x1b[0m");
}

const Glyphs& glyphs(bool unicode) {
  static constexpr Glyphs drawn{"·", "…", "█", "░", "├─ ", "└─ ", "│  ", "   ", "→"};
  static constexpr Glyphs ascii{"-", "...", "#", ".", "|- ", "`- ", "|  ", "   ", "->"};
  return unicode ? drawn : ascii;
}

}  // namespace tracso
