#include "python/may_import.hpp"

#include <algorithm>

namespace tracso::python {
namespace {

bool is_word(std::string_view source, std::size_t at, std::size_t length) {
  return (at == 0 || !is_word_character(source[at - 1])) &&
         (at + length == source.size() || !is_word_character(source[at + length]));
}

// A backslash before the newline at `newline`.
bool is_continued(std::string_view source, std::size_t newline) {
  const bool carriage_return = newline > 0 && source[newline - 1] == '\r';
  const std::size_t last = newline - (carriage_return ? 1 : 0);
  return last > 0 && source[last - 1] == '\\';
}

// Where the line begins that `at` stands in, with the lines that it continues; not before `least`.
std::size_t begin_of_lines(std::string_view source, std::size_t at, std::size_t least) {
  while (at > least) {
    const auto newline = source.rfind('\n', at - 1);
    if (newline == std::string_view::npos || newline < least) {
      return least;
    }
    if (!is_continued(source, newline)) {
      return newline + 1;
    }
    at = newline;
  }
  return at;
}

// Where the statement ends that `at` stands in: at a newline that is neither continued nor inside
// brackets. Brackets in comments may open but not close, so that the end is rather found too late.
std::size_t end_of_lines(std::string_view source, std::size_t at) {
  int brackets = 0;
  bool comment = false;
  for (; at < source.size(); ++at) {
    const char character = source[at];
    if (character == '\n') {
      comment = false;
      if (brackets == 0 && !is_continued(source, at)) {
        return at;
      }
    }
    comment = comment || character == '#';
    brackets += character == '(' ? 1 : 0;
    brackets -= character == ')' && brackets > 0 && !comment ? 1 : 0;
  }
  return at;
}

bool has_any(std::string_view text, const WordSet& words) {
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_word_character(text[end])) {
      ++end;
    }
    if (end > at && words.find(text.substr(at, end - at)) != words.end()) {
      return true;
    }
    at = end + 1;
  }
  return false;
}

}  // namespace

bool may_import(std::string_view source, const WordSet& words) {
  constexpr std::string_view keyword = "import";
  std::size_t seen = 0;  // everything before has been looked at
  for (auto at = source.find(keyword); at != std::string_view::npos;
       at = source.find(keyword, at)) {
    if (!is_word(source, at, keyword.size())) {
      at += keyword.size();
      continue;
    }
    const auto begin = begin_of_lines(source, at, seen);
    at = end_of_lines(source, at);
    if (has_any(source.substr(begin, at - begin), words)) {
      return true;
    }
    seen = at;
  }
  return false;
}

}  // namespace tracso::python
