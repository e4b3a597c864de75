#include "calls/ltrace_text.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <utility>

namespace tracso::calls {
namespace {

bool is_word_character(char character) {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
         (character >= '0' && character <= '9') || character == '_';
}

}  // namespace

bool ConfigText::fail(std::string reason) {
  if (problem_.empty()) {
    problem_ = std::move(reason);
  }
  return false;
}

bool ConfigText::is_next(char character) {
  skip();
  return at_ < text_.size() && text_[at_] == character;
}

bool ConfigText::take(char character) {
  const bool there = is_next(character);
  at_ += there ? 1 : 0;
  return there;
}

bool ConfigText::take(std::string_view what) {
  skip();
  const bool there = text_.substr(at_).starts_with(what);
  at_ += there ? what.size() : 0;
  return there;
}

bool ConfigText::want(char character) {
  return take(character) || fail(fmt::format("a '{}' is missing {}", character, here()));
}

// The end of the line, or of what it says: a comment may follow.
bool ConfigText::want_end() {
  take(';');
  skip();
  return at_ == text_.size() || text_[at_ - 1] == ';' || is_next(';') ||
         fail(fmt::format("more than one description {}", here()));
}

// Letters, digits, underscores; symbols may have dots and the like.
std::string_view ConfigText::word(std::string_view also) {
  skip();
  const auto start = at_;
  while (at_ < text_.size() &&
         (is_word_character(text_[at_]) || also.find(text_[at_]) != std::string_view::npos)) {
    ++at_;
  }
  return text_.substr(start, at_ - start);
}

void ConfigText::skip() {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r')) {
    ++at_;
  }
}

std::string ConfigText::here() {
  skip();
  constexpr std::size_t shown = 20;
  return at_ == text_.size() ? "at the end of the line"
                             : fmt::format("before '{}'", printable(text_.substr(at_, shown)));
}

std::optional<std::uint64_t> ConfigText::number() {
  skip();
  const bool negative = take('-');
  const auto digits = word();
  const auto value = digits.starts_with("0x") ? parse_unsigned(digits.substr(2), 16)
                     : digits.size() > 1 && digits.front() == '0'
                         ? parse_unsigned(digits.substr(1), 8)
                         : parse_unsigned(digits);
  if (!value) {
    fail(digits.empty() ? fmt::format("a number is missing {}", here())
                        : fmt::format("'{}' is no number", printable(digits)));
    return std::nullopt;
  }
  return negative ? std::uint64_t{0} - *value : *value;
}

}  // namespace tracso::calls
