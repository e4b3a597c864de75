#include "support/line_tables.hpp"

#include "base/text.hpp"
#include "python/line_tables.hpp"

#include <fmt/format.h>

namespace tracso::test {

std::vector<std::byte> from_hex(std::string_view digits) {
  std::vector<std::byte> bytes;
  for (std::size_t at = 0; at + 1 < digits.size(); at += 2) {
    bytes.push_back(static_cast<std::byte>(parse_unsigned(digits.substr(at, 2), 16).value_or(0)));
  }
  return bytes;
}

LineTableCheck check_line_table(std::string_view text) {
  const auto words = split_words(text, " ");
  LineTableCheck check;
  if (words.size() < 4) {
    check.difference = "not a line table";
    return check;
  }
  const auto number = [](std::string_view digits) {
    return static_cast<std::uint32_t>(parse_unsigned(digits).value_or(0));
  };
  const auto table = from_hex(words[2]);
  const auto bytes = number(words[3]);
  std::size_t pair = 4;
  std::uint32_t line = 0;
  for (std::uint32_t offset = 0; offset < bytes; offset += 2) {
    const auto next = pair < words.size() ? split(words[pair], ':') : split("", ':');
    if (next.size() == 2 && number(next[0]) == offset) {
      line = number(next[1]);
      ++pair;
    }
    const auto seen =
        python::line_of_instruction(number(words[0]), table, number(words[1]), offset);
    ++check.instructions;
    if (seen != line && check.difference.empty()) {
      check.difference = fmt::format("line {} at {}, not {}: {}", seen, offset, line, text);
    }
  }
  return check;
}

}  // namespace tracso::test
