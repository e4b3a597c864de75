#include "render/text/columns.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <cmath>

namespace tracso {
namespace {

constexpr std::size_t row_indent = 2;
constexpr std::size_t narrowest_name = 16;
constexpr int bar_cells = 16;

bool starts_character(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
}

// The longest beginning of at most `columns` columns.
std::string_view head(std::string_view text, std::size_t columns) {
  std::size_t end = 0;
  std::size_t width = 0;
  while (end < text.size()) {
    std::size_t next = end + 1;
    while (next < text.size() && !starts_character(text[next])) {
      ++next;
    }
    width += display_width(text.substr(end, next - end));
    if (width > columns) {
      break;
    }
    end = next;
  }
  return text.substr(0, end);
}

std::string_view tail(std::string_view text, std::size_t columns) {
  std::size_t begin = text.size();
  std::size_t width = 0;
  while (begin > 0) {
    std::size_t previous = begin - 1;
    while (previous > 0 && !starts_character(text[previous])) {
      --previous;
    }
    width += display_width(text.substr(previous, begin - previous));
    if (width > columns) {
      break;
    }
    begin = previous;
  }
  return text.substr(begin);
}

}  // namespace

std::string pad_right(std::string_view text, std::size_t columns) {
  const std::size_t width = display_width(text);
  return std::string(text).append(columns > width ? columns - width : 0, ' ');
}

std::string pad_left(std::string_view text, std::size_t columns) {
  const std::size_t width = display_width(text);
  return std::string(columns > width ? columns - width : 0, ' ').append(text);
}

std::string cut_middle(std::string_view text, std::size_t columns, bool unicode) {
  columns = std::max<std::size_t>(columns, 5);
  if (display_width(text) <= columns) {
    return std::string(text);
  }
  const std::string_view ellipsis = glyphs(unicode).ellipsis;
  const std::size_t kept = columns - display_width(ellipsis);
  const std::size_t end = kept / 2;
  return std::string(head(text, kept - end)).append(ellipsis).append(tail(text, end));
}

std::string cut_end(std::string_view text, std::size_t columns, bool unicode) {
  // Twelve bytes a column are more than any character takes: a huge text need not be measured.
  if (text.size() <= columns || (text.size() / 12 <= columns && display_width(text) <= columns)) {
    return std::string(text);
  }
  const std::string_view ellipsis = glyphs(unicode).ellipsis;
  const std::size_t width = display_width(ellipsis);
  if (columns < width) {
    return std::string(head(text, columns));
  }
  return std::string(head(text, columns - width)).append(ellipsis);
}

std::string bar(double part, bool unicode) {
  const double filled = part > 0 ? std::min(part, 1.0) : 0;  // not a number: empty
  const double cells = std::nearbyint(filled * bar_cells);
  std::string out;
  for (int i = 0; i < bar_cells; ++i) {
    out += i < static_cast<int>(cells) ? glyphs(unicode).bar_full : glyphs(unicode).bar_empty;
  }
  return out;
}

Line& Line::add(std::string_view text, Style style) {
  pieces_.push_back({std::string(text), style});
  width_ += display_width(text);
  return *this;
}

void Line::cut(std::size_t columns, bool unicode) {
  if (width_ <= columns) {
    return;
  }
  std::size_t room = columns;
  std::size_t kept = 0;
  while (kept < pieces_.size() && display_width(pieces_[kept].text) < room) {
    room -= display_width(pieces_[kept].text);
    ++kept;
  }
  if (kept < pieces_.size()) {  // the ellipsis shows even where a piece ends at the edge
    std::string& text = pieces_[kept].text;
    text = cut_end(text + std::string(room + 1, ' '), room, unicode);
    ++kept;
  }
  pieces_.resize(kept);
  width_ = columns;
}

std::string Line::paint(bool color) const {
  std::string out;
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    std::string_view text = pieces_[i].text;
    if (i + 1 == pieces_.size()) {
      text = text.substr(0, text.find_last_not_of(' ') + 1);
    }
    out += tracso::paint(color, pieces_[i].style, text);
  }
  return out;
}

std::size_t fitted_name_columns(const std::vector<Row>& rows, const TableLook& look) {
  if (look.terminal == 0) {
    return look.name_columns;
  }
  std::size_t widest = 0;
  for (const Row& row : rows) {
    widest = std::max(widest, row.rest.width());
  }
  const std::size_t taken = row_indent + widest;
  const std::size_t room = look.terminal > taken ? look.terminal - taken : 0;
  return std::min(look.name_columns, std::max(room, narrowest_name));
}

std::string table(const std::vector<Row>& rows, const TableLook& look) {
  const std::size_t columns = fitted_name_columns(rows, look);
  std::string out;
  for (const Row& row : rows) {
    Line rest = row.rest;
    std::string name = row.name;
    if (look.terminal != 0) {
      const std::size_t taken = row_indent + rest.width();
      const std::size_t room = look.terminal > taken ? look.terminal - taken : 0;
      name = cut_middle(name, std::max(columns, room), look.unicode);
      const std::size_t before = row_indent + std::max(columns, display_width(name));
      rest.cut(look.terminal > before ? look.terminal - before : 0, look.unicode);
    }
    const std::size_t width = display_width(name);
    out.append(row_indent, ' ').append(paint(look.color, row.style, name));
    if (rest.width() > 0) {
      out.append(columns > width ? columns - width : 0, ' ').append(rest.paint(look.color));
    }
    out += '\n';
  }
  return out;
}

}  // namespace tracso
