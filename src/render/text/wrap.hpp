#pragma once
// Sentences in lines no wider than a terminal.

#include <cstddef>
#include <string>
#include <string_view>

namespace tracso {

struct WrapLook {
  std::size_t columns = 0;  ///< of the terminal; 0: nothing is wrapped
  std::size_t first = 0;    ///< columns that stand before the text on its first line
  std::size_t hang = 0;     ///< blanks before each further line
};

/// The text broken at blanks; a word that is too long for any line stays whole (a path must be
/// copied whole), except that it begins a line of its own. No final newline.
std::string wrapped(std::string_view text, const WrapLook& look);

}  // namespace tracso
