#include "render/text/markdown.hpp"

#include "base/text.hpp"
#include "render/text/style.hpp"
#include "render/text/wrap.hpp"

#include <vector>

namespace tracso {
namespace {

// "[text](address)" -> "text", `code` -> code, **bold** -> bold.
std::string unmarked(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t close = text.front() == '[' ? text.find("](") : std::string_view::npos;
    const std::size_t end = close == std::string_view::npos ? close : text.find(')', close);
    if (end != std::string_view::npos) {
      out += unmarked(text.substr(1, close - 1));
      text.remove_prefix(end + 1);
    } else if (text.front() == '`') {
      text.remove_prefix(1);
    } else if (text.starts_with("**")) {
      text.remove_prefix(2);
    } else if (text.starts_with("\\|")) {
      out += '|';
      text.remove_prefix(2);
    } else {
      out += text.front();
      text.remove_prefix(1);
    }
  }
  return out;
}

std::vector<std::string> cells(std::string_view row) {
  std::vector<std::string> out;
  std::string cell;
  for (std::size_t i = 1; i < row.size(); ++i) {
    if (row[i] == '|' && row[i - 1] != '\\') {
      out.push_back(unmarked(trim(cell)));
      cell.clear();
    } else {
      cell += row[i];
    }
  }
  return out;
}

bool is_table_rule(std::string_view line) {
  return line.starts_with('|') && line.find_first_not_of("|-: ") == std::string_view::npos;
}

// "- ", "* " or "1. ": the columns it takes; 0: no list item.
std::size_t list_mark(std::string_view line) {
  if (line.starts_with("- ") || line.starts_with("* ")) {
    return 2;
  }
  const std::size_t digits = line.find_first_not_of("0123456789");
  const bool numbered =
      digits != 0 && digits != std::string_view::npos && line.substr(digits).starts_with(". ");
  return numbered ? digits + 2 : 0;
}

class Page {
 public:
  explicit Page(const MarkdownLook& look) : look_(look) {}

  std::string text(std::string_view markdown) {
    for (const std::string_view line : split(markdown, '\n')) {
      add(line);
    }
    end_paragraph();
    while (out_.ends_with("\n\n")) {
      out_.pop_back();
    }
    return std::move(out_);
  }

 private:
  void add(std::string_view line);
  void heading(std::string_view line);
  void table_row(std::string_view line);
  void item(std::string_view line, std::size_t indent, std::size_t mark);
  void end_paragraph();

  const MarkdownLook& look_;
  std::string paragraph_;
  std::size_t hang_ = 0, mark_ = 0;
  bool code_ = false;
  bool head_row_ = true;  // the next row of a table is its head
  std::string out_;
};

void Page::end_paragraph() {
  if (!paragraph_.empty()) {
    const std::string lead(hang_ - mark_, ' ');
    out_ += lead + wrapped(unmarked(paragraph_), {look_.columns, lead.size(), hang_}) + "\n";
    paragraph_.clear();
  }
  hang_ = mark_ = 0;
}

void Page::heading(std::string_view line) {
  const std::size_t level = line.find_first_not_of('#');
  const std::string title = unmarked(trim(line.substr(level)));
  if (!out_.empty() && !out_.ends_with("\n\n")) {
    out_ += '\n';
  }
  out_ += paint(look_.color, Style::bold, title) + "\n";
}

// The head says what the cells are; of the rows the first cell leads.
void Page::table_row(std::string_view line) {
  const auto row = cells(line);
  if (row.empty()) {
    return;
  }
  std::string rest;
  for (std::size_t i = 1; i < row.size(); ++i) {
    rest += (rest.empty() || row[i].empty() ? "" : " | ") + row[i];
  }
  const bool bare = row.front().empty() && rest.empty();
  if (head_row_ && !bare) {
    out_ += paint(look_.color, Style::dim, row.front() + (rest.empty() ? "" : ": " + rest)) + "\n";
  } else if (!bare) {
    out_ += "  " + paint(look_.color, Style::bold, row.front());
    const std::size_t used = 2 + display_width(row.front()) + 2;
    out_ += rest.empty() ? "\n" : "  " + wrapped(rest, {look_.columns, used, 6}) + "\n";
  }
  head_row_ = false;
}

void Page::item(std::string_view line, std::size_t indent, std::size_t mark) {
  end_paragraph();
  hang_ = indent + mark;
  mark_ = mark;
  paragraph_ = line;
}

void Page::add(std::string_view line) {
  const std::string_view words = trim(line);
  const std::size_t indent = line.size() - trim(std::string(line) + "x").size() + 1;
  if (words.starts_with("```")) {
    end_paragraph();
    code_ = !code_;
  } else if (code_) {
    out_ += "    " + std::string(line) + "\n";
  } else if (words.empty()) {
    end_paragraph();
    head_row_ = true;
    out_ += out_.empty() || out_.ends_with("\n\n") ? "" : "\n";
  } else if (line.starts_with('#')) {
    end_paragraph();
    heading(line);
  } else if (is_table_rule(line)) {
    head_row_ = false;
  } else if (line.starts_with('|')) {
    end_paragraph();
    table_row(line);
  } else if (const std::size_t mark = list_mark(words); mark > 0) {
    item(words, indent, mark);
  } else {
    paragraph_ += (paragraph_.empty() ? "" : " ") + std::string(words);
  }
}

}  // namespace

std::string markdown_text(std::string_view markdown, const MarkdownLook& look) {
  return Page(look).text(markdown);
}

}  // namespace tracso
