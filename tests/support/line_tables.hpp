#pragma once
// Line tables of code objects with the lines that CPython sees in them: a line of text each, as
// tests/live/python_line_tables.py prints it.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tracso::test {

struct LineTableCheck {
  std::size_t instructions = 0;  ///< compared
  std::string difference;        ///< the first that has another line; empty: none
};

/// Asks line_of_instruction for every instruction of "3.MINOR FIRST_LINE TABLE BYTES PAIRS...".
LineTableCheck check_line_table(std::string_view text);

/// "0a1f" -> two bytes
std::vector<std::byte> from_hex(std::string_view digits);

}  // namespace tracso::test
