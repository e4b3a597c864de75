#include "python/import_statements.hpp"

#include "base/text.hpp"
#include "python/may_import.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace tracso::python {
namespace {

// One logical line: comments gone, strings emptied, continued lines joined.
struct LogicalLine {
  std::uint32_t number = 0;  // of its first physical line
  std::size_t indent = 0;
  std::string text;
};

// Cuts source text into logical lines (Python language reference, 2.1 "Line structure").
class LineReader {
 public:
  explicit LineReader(std::string_view source) : source_(source) {
    if (source_.substr(0, 3) == "\xef\xbb\xbf") {
      at_ = 3;
    }
  }

  // nullopt: the end.
  std::optional<LogicalLine> next() {
    while (at_ < source_.size()) {
      LogicalLine line;
      line.indent = skip_indent();
      line.number = number_;
      read_logical(line.text);
      if (!trim(line.text).empty()) {
        return line;
      }
    }
    return std::nullopt;
  }

 private:
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0';
  }

  std::size_t skip_indent() {
    std::size_t columns = 0;
    for (; peek() == ' ' || peek() == '\t' || peek() == '\f'; ++at_) {
      columns = peek() == '\t' ? (columns / 8 + 1) * 8 : peek() == '\f' ? 0 : columns + 1;
    }
    return columns;
  }

  void read_logical(std::string& text) {
    int brackets = 0;
    while (at_ < source_.size()) {
      const char character = source_[at_];
      if (character == '\n' && brackets <= 0) {
        ++at_;
        ++number_;
        return;
      }
      if (character == '#') {
        at_ = std::min(source_.find('\n', at_), source_.size());
      } else if (character == '"' || character == '\'') {
        skip_string();
        text += "''";
      } else if (character == '\\' && (peek(1) == '\n' || peek(1) == '\r')) {
        at_ += peek(1) == '\r' ? 3 : 2;
        ++number_;
        text += ' ';
      } else {
        brackets += character == '(' || character == '[' || character == '{' ? 1 : 0;
        brackets -= character == ')' || character == ']' || character == '}' ? 1 : 0;
        number_ += character == '\n' ? 1 : 0;
        text += character == '\n' || character == '\r' ? ' ' : character;
        ++at_;
      }
    }
  }

  // A one-line string that is not closed ends with its line, so that broken source loses one line
  // and not all that follows.
  void skip_string() {
    const char quote = source_[at_];
    const bool is_long = peek(1) == quote && peek(2) == quote;
    at_ += is_long ? 3 : 1;
    while (at_ < source_.size()) {
      const char character = source_[at_];
      if (character == '\\') {
        number_ += peek(1) == '\n' ? 1 : 0;
        at_ = std::min(at_ + 2, source_.size());
      } else if (character == quote && (!is_long || (peek(1) == quote && peek(2) == quote))) {
        at_ += is_long ? 3 : 1;
        return;
      } else if (character == '\n' && !is_long) {
        return;
      } else {
        number_ += character == '\n' ? 1 : 0;
        ++at_;
      }
    }
  }

  std::string_view source_;
  std::size_t at_ = 0;
  std::uint32_t number_ = 1;
};

// Where a separator stands outside of all brackets; npos: nowhere.
std::size_t find_outside(std::string_view text, char wanted) {
  int brackets = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == wanted && brackets == 0) {
      return i;
    }
    brackets += text[i] == '(' || text[i] == '[' || text[i] == '{' ? 1 : 0;
    brackets -= text[i] == ')' || text[i] == ']' || text[i] == '}' ? 1 : 0;
  }
  return std::string_view::npos;
}

std::string_view first_word(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && is_word_character(text[end])) {
    ++end;
  }
  return text.substr(0, end);
}

bool opens_block(std::string_view word) {
  constexpr std::array words = {"if",
                                "elif",
                                "else",
                                "try",
                                "except",
                                "finally",
                                "with",
                                "for",
                                "while",
                                "class",
                                "def",
                                "async",
                                "match",
                                "case"};
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_dotted_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char character) {
    return is_word_character(character) || character == '.';
  });
}

// "a.b as c" -> "a.b"
std::string_view without_alias(std::string_view item) {
  const auto words = split_words(item, " \t");
  return words.empty() ? std::string_view() : words.front();
}

class Parser {
 public:
  explicit Parser(std::string_view package) : package_(package) {}

  void line(const LogicalLine& line) {
    while (!functions_.empty() && line.indent <= functions_.back()) {
      functions_.pop_back();
    }
    line_ = line.number;
    statements(line.text, line.indent, !functions_.empty());
  }

  std::vector<ImportedName> names;

 private:
  // The statements of a line; those behind "if x:" or "def f():" too.
  void statements(std::string_view text, std::size_t indent, bool in_function) {
    text = trim(text);
    const auto word = first_word(text);
    if (opens_block(word)) {
      const bool is_function = word == "def" || (word == "async" && is_async_function(text));
      if (is_function) {
        functions_.push_back(indent);
      }
      const auto colon = find_outside(text, ':');
      if (colon != std::string_view::npos && colon + 1 < text.size()) {
        simple_statements(text.substr(colon + 1), in_function || is_function);
      }
      return;
    }
    simple_statements(text, in_function);
  }

  static bool is_async_function(std::string_view text) {
    return first_word(trim(text.substr(std::string_view("async").size()))) == "def";
  }

  void simple_statements(std::string_view text, bool in_function) {
    while (!text.empty()) {
      const auto end = std::min(find_outside(text, ';'), text.size());
      const auto statement = trim(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
      const auto word = first_word(statement);
      if (word == "import") {
        import_statement(statement.substr(word.size()), in_function);
      } else if (word == "from") {
        from_statement(trim(statement.substr(word.size())), in_function);
      }
    }
  }

  void add(std::string name, bool in_function) {
    if (is_dotted_name(name)) {
      names.push_back({std::move(name), line_, in_function});
    }
  }

  void import_statement(std::string_view items, bool in_function) {
    for (const auto item : split(items, ',')) {
      add(std::string(without_alias(item)), in_function);
    }
  }

  // The module that "..a.b" means; nullopt: above the package.
  std::optional<std::string> absolute(std::string_view name) const {
    const auto dots = std::min(name.find_first_not_of('.'), name.size());
    if (dots == 0) {
      return std::string(name);
    }
    std::string_view base = package_;
    for (std::size_t level = 1; level < dots; ++level) {
      const auto dot = base.rfind('.');
      base = dot == std::string_view::npos ? std::string_view() : base.substr(0, dot);
    }
    if (base.empty()) {
      return std::nullopt;
    }
    const auto rest = name.substr(dots);
    return std::string(base) + (rest.empty() ? "" : ".") + std::string(rest);
  }

  void from_statement(std::string_view text, bool in_function) {
    std::size_t end = 0;
    std::string module;
    // "from . x import y" may have blanks between the dots and the name.
    while (end < text.size() && (text[end] == '.' || text[end] == ' ')) {
      module += text[end] == '.' ? "." : "";
      ++end;
    }
    while (end < text.size() && (text[end] == '.' || is_word_character(text[end]))) {
      const bool is_keyword = module.ends_with('.') && first_word(text.substr(end)) == "import";
      if (is_keyword) {
        break;
      }
      module += text[end++];
    }
    text = trim(text.substr(end));
    const auto base = absolute(module);
    if (first_word(text) != "import" || !base || module.empty()) {
      return;
    }
    add(*base, in_function);
    text.remove_prefix(std::string_view("import").size());
    for (const auto item : split(text, ',')) {
      const auto name = without_alias(trim_brackets(item));
      if (name != "*" && !name.empty()) {
        add(*base + "." + std::string(name), in_function);
      }
    }
  }

  static std::string_view trim_brackets(std::string_view item) {
    item = trim(item);
    while (!item.empty() && (item.front() == '(' || item.front() == ' ')) {
      item.remove_prefix(1);
    }
    while (!item.empty() && (item.back() == ')' || item.back() == ' ')) {
      item.remove_suffix(1);
    }
    return item;
  }

  std::string_view package_;
  std::vector<std::size_t> functions_;  // indents of the def statements around the line
  std::uint32_t line_ = 0;
};

}  // namespace

std::vector<ImportedName> parse_imports(std::string_view source, std::string_view package) {
  LineReader reader(source);
  Parser parser(package);
  while (const auto line = reader.next()) {
    parser.line(*line);
  }
  return std::move(parser.names);
}

}  // namespace tracso::python
