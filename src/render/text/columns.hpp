#pragma once
// Columns of text: padding, cutting and rows of a table, by what a terminal shows and not by bytes.

#include "render/text/style.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tracso {

/// Filled with blanks to that many columns; a longer text stays as it is.
std::string pad_right(std::string_view text, std::size_t columns);
std::string pad_left(std::string_view text, std::size_t columns);

/// At most that many columns, the middle replaced by an ellipsis: both ends of a library's name
/// tell it apart ("libscipy_op…f4.so"). `columns` smaller than 5 count as 5.
std::string cut_middle(std::string_view text, std::size_t columns, bool unicode);

/// At most that many columns, the end replaced by an ellipsis where it does not fit.
std::string cut_end(std::string_view text, std::size_t columns, bool unicode);

/// `part` of a whole (0 to 1, clamped) as 16 cells, rounded half to even.
std::string bar(double part, bool unicode);

/// Pieces of one line, each with its style; knows how wide it is.
class Line {
 public:
  Line& add(std::string_view text, Style style = Style::plain);

  std::size_t width() const { return width_; }

  /// At most that many columns, an ellipsis at the end of what is cut.
  void cut(std::size_t columns, bool unicode);

  /// Without the blanks at the end.
  std::string paint(bool color) const;

 private:
  struct Piece {
    std::string text;
    Style style;
  };

  std::vector<Piece> pieces_;
  std::size_t width_ = 0;
};

struct Row {
  std::string name;  ///< printable
  Line rest;         ///< everything right of the name's column
  Style style = Style::plain;
};

struct TableLook {
  std::size_t name_columns = 40;
  std::size_t terminal = 0;  ///< columns; 0: not a terminal, nothing is cut
  bool color = false, unicode = true;
};

/// Rows indented by two. A name longer than its column pushes the rest of its own line; only on a
/// terminal it is cut, and the column shrinks where the widest row would not fit. What is still
/// wider than the terminal is cut at its end.
std::string table(const std::vector<Row>& rows, const TableLook& look);

/// What table() makes of the name column: headings above it need the same.
std::size_t fitted_name_columns(const std::vector<Row>& rows, const TableLook& look);

}  // namespace tracso
