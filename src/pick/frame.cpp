// From top to bottom: the filter, the titles of the columns, the processes, a rule, the preview,
// the keys. Where the screen is low the preview goes first, where it is narrow the columns go.

#include "pick/frame.hpp"

#include "base/sizes.hpp"
#include "base/text.hpp"
#include "render/text/columns.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tracso::pick {
namespace {

constexpr std::size_t preview_rows = 7;  // with its rule
constexpr std::size_t least_rows_for_preview = 16;
constexpr std::size_t pid_columns = 8;
constexpr std::size_t user_columns = 10;
constexpr std::size_t memory_columns = 10;
constexpr std::size_t python_columns = 8;
constexpr std::size_t container_columns = 20;

bool has_preview(Size size, Look look) {
  return look == Look::full && size.rows >= least_rows_for_preview;
}

// Which columns there is room for.
struct Columns {
  bool user = false, memory = false, python = false, container = false;
};

Columns columns_for(Size size, Look look) {
  if (look == Look::compact) {
    return {};
  }
  return {size.columns >= 70, size.columns >= 40, size.columns >= 56, size.columns >= 110};
}

class Painter {
 public:
  Painter(const Picker& picker, Size size, Look look, bool unicode)
      : picker_(picker),
        size_(size),
        look_(look),
        unicode_(unicode),
        columns_(columns_for(size, look)) {}

  Frame draw(const Preview* preview) {
    filter_line();
    titles();
    rows();
    if (has_preview(size_, look_)) {
      preview_lines(preview);
    }
    keys();
    return std::move(frame_);
  }

 private:
  void add(FrameLine line);
  void filter_line();
  void titles();
  void rows();
  void preview_lines(const Preview* preview);
  void keys();
  std::string row(const proc::ProcessEntry& entry) const;
  std::string title(SortKey key, std::string_view text) const;
  std::string fitted(std::string_view text, std::size_t columns) const;

  const Picker& picker_;
  Size size_;
  Look look_;
  bool unicode_;
  Columns columns_;
  Frame frame_;
};

// Cut behind `columns`, with an ellipsis.
std::string Painter::fitted(std::string_view text, std::size_t columns) const {
  return cut_end(text, columns, unicode_);
}

// No line is wider than the screen: the last span that fits is cut.
void Painter::add(FrameLine line) {
  std::size_t room = size_.columns;
  FrameLine out;
  for (Span& span : line) {
    if (room == 0) {
      break;
    }
    span.text = fitted(span.text, room);
    room -= std::min(room, display_width(span.text));
    out.push_back(std::move(span));
  }
  frame_.lines.push_back(std::move(out));
}

void Painter::filter_line() {
  const std::string prompt = "> ";
  const std::string count = fmt::format("  {}/{}", picker_.shown().size(), picker_.total());
  const std::size_t room = size_.columns > prompt.size() + count.size()
                               ? size_.columns - prompt.size() - count.size()
                               : 0;
  std::string typed = printable(picker_.filter());
  while (display_width(typed) + 1 > room && !typed.empty()) {
    typed.erase(0, 1);  // the end is what is being typed
    while (!typed.empty() && (static_cast<unsigned char>(typed.front()) & 0xC0U) == 0x80U) {
      typed.erase(0, 1);
    }
  }
  frame_.cursor_line = 0;
  frame_.cursor_column =
      std::min(prompt.size() + display_width(typed), size_.columns == 0 ? 0 : size_.columns - 1);
  if (picker_.filter().empty()) {
    add({{prompt, Paint::accent},
         {pad_right(fitted(" type to filter: pid, name, user, container, python", room), room),
          Paint::dim},
         {count, Paint::dim}});
    return;
  }
  add({{prompt, Paint::accent}, {pad_right(typed, room), Paint::bold}, {count, Paint::dim}});
}

std::string Painter::title(SortKey key, std::string_view text) const {
  if (picker_.sort() != key) {
    return std::string(text);
  }
  const bool down = (key == SortKey::memory) == (picker_.direction() == Direction::natural);
  const std::string_view arrow = unicode_ ? (down ? "▼" : "▲") : (down ? "v" : "^");
  return std::string(text) + std::string(arrow);
}

void Painter::titles() {
  std::string line = pad_left(title(SortKey::pid, "PID"), pid_columns);
  if (columns_.user) {
    line += "  " + pad_right(title(SortKey::user, "USER"), user_columns);
  }
  if (columns_.memory) {
    line += pad_left(title(SortKey::memory, "RSS"), memory_columns);
  }
  if (columns_.python) {
    line += "  " + pad_right(title(SortKey::python, "PYTHON"), python_columns);
  }
  if (columns_.container) {
    line += "  " + pad_right("CONTAINER", container_columns);
  }
  line += "  " + title(SortKey::command, "COMMAND");
  add({{line, Paint::bold}});
}

std::string Painter::row(const proc::ProcessEntry& entry) const {
  std::string line = pad_left(fmt::format("{}", entry.pid), pid_columns);
  if (columns_.user) {
    line += "  " + pad_right(fitted(printable(entry.user), user_columns), user_columns);
  }
  if (columns_.memory) {
    line += pad_left(size_text(entry.resident_bytes), memory_columns);
  }
  if (columns_.python) {
    const std::string version = entry.python_asked ? printable(entry.python) : "?";
    line += "  " + pad_right(fitted(version, python_columns), python_columns);
  }
  if (columns_.container) {
    line +=
        "  " + pad_right(fitted(printable(entry.container), container_columns), container_columns);
  }
  line += "  ";
  // A command can be very long: what would be cut anyway need not be escaped.
  return line + printable(std::string_view(entry.command).substr(0, size_.columns * 4));
}

void Painter::rows() {
  frame_.first_row = frame_.lines.size();
  for (std::size_t i = 0; i < picker_.height(); ++i) {
    const std::size_t at = picker_.top() + i;
    if (at >= picker_.shown().size()) {
      add(i == 0 ? FrameLine{{"  no process matches", Paint::dim}} : FrameLine{});
      continue;
    }
    const std::string text = fitted(row(picker_.entry(picker_.shown()[at])), size_.columns);
    const bool selected = at == picker_.cursor();
    add({{selected ? pad_right(text, size_.columns) : text,
          selected ? Paint::selected : Paint::plain}});
  }
}

void Painter::preview_lines(const Preview* preview) {
  std::string rule;
  for (std::size_t i = 0; i < size_.columns; ++i) {
    rule += unicode_ ? "─" : "-";
  }
  add({{rule, Paint::dim}});
  const std::size_t end = frame_.lines.size() + preview_rows - 1;
  if (picker_.selected() == nullptr) {
    preview = nullptr;
  } else if (preview == nullptr) {
    add({{"  looking ...", Paint::dim}});
  }
  if (preview != nullptr) {
    for (const std::string& fact : preview->facts) {
      add({{"  " + fact, Paint::plain}});
    }
    for (const std::string& warning : preview->warnings) {
      add({{"  ! " + warning, Paint::warning}});
    }
  }
  frame_.lines.resize(end);
}

void Painter::keys() {
  add({{fmt::format("Enter trace  Esc quit  Tab sort: {}  ^R reverse  F5 new list",
                    sort_name(picker_.sort())),
        Paint::dim}});
}

}  // namespace

std::size_t list_height(Size size, Look look) {
  constexpr std::size_t around = 3;  // filter, titles, keys
  const std::size_t taken = around + (has_preview(size, look) ? preview_rows : 0);
  return size.rows > taken ? size.rows - taken : 1;
}

Frame draw(const Picker& picker, Size size, Look look, bool unicode, const Preview* preview) {
  Frame frame = Painter(picker, size, look, unicode).draw(preview);
  frame.lines.resize(size.rows);
  return frame;
}

}  // namespace tracso::pick
