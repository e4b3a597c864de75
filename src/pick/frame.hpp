#pragma once
// What the picker shows, as lines of styled text: all of the drawing that needs no terminal.

#include "pick/picker.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tracso::pick {

enum class Look : std::uint8_t {
  full,    ///< --pick-mode textual: columns and preview
  compact  ///< --pick-mode curses: pid and command
};

/// What is known of the selected process beside its line. Lines are printable.
struct Preview {
  std::vector<std::string> facts;
  std::vector<std::string> warnings;
  bool operator==(const Preview&) const = default;
};

enum class Paint : std::uint8_t { plain, bold, dim, accent, warning, selected };

struct Span {
  std::string text;
  Paint paint = Paint::plain;
  bool operator==(const Span&) const = default;
};

/// A line is never wider than the screen; `selected` lines are filled to its width.
using FrameLine = std::vector<Span>;

struct Frame {
  std::vector<FrameLine> lines;
  std::size_t first_row = 0;                       ///< the line that holds row picker.top()
  std::size_t cursor_line = 0, cursor_column = 0;  ///< where typing goes on
};

struct Size {
  std::size_t rows = 24, columns = 80;
};

/// Lines that are left for processes on a screen of that size.
std::size_t list_height(Size size, Look look);

/// The whole screen; picker.set_height(list_height(...)) comes before. `preview` nullptr: not there
/// yet.
Frame draw(const Picker& picker, Size size, Look look, bool unicode, const Preview* preview);

}  // namespace tracso::pick
