#pragma once
// The picker without a screen: a numbered list and a question, for dumb terminals and for pipes.

#include "pick/picker.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tracso::pick {

/// How many processes one list shows.
constexpr std::size_t plain_rows = 30;

struct PlainOptions {
  std::size_t width = 0;  ///< 0: lines are not cut
  bool unicode = true;
  std::function<void(const std::string&)> print;
  /// A line of the answer without its newline; nullopt: the end of input.
  std::function<std::optional<std::string>()> read;
};

enum class PlainEnd : std::uint8_t {
  chosen,
  declined,  ///< an empty line
  no_answer  ///< input ended before one
};

struct PlainAnswer {
  PlainEnd end = PlainEnd::no_answer;
  std::int32_t pid = 0;  ///< of chosen
};

/// Asks until there is an answer: a number of the list, a pid, or words that filter the list anew.
PlainAnswer choose_plainly(std::vector<proc::ProcessEntry> entries, const PlainOptions& options);

}  // namespace tracso::pick
