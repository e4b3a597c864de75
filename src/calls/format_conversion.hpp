#pragma once
// What a format of printf(3) asks for; the agent (agent/capture.c) reads it the same way.

#include "calls/prototypes.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace tracso::calls {

struct Conversion {
  bool numbered = false;  ///< "%2$s"
  bool wide = false, long_double = false;
  std::uint8_t size = 4;
  std::size_t stars = 0;  ///< widths and precisions that are arguments, before the value
  char letter = 0;        ///< 0: the format ends within it

  bool floating() const {
    return std::string_view("aAeEfFgG").find(letter) != std::string_view::npos;
  }
};

/// `at` stands behind the %, and is left behind the conversion.
Conversion next_conversion(std::string_view format, std::size_t& at);
/// Of one that is not floating.
Type type_of(const Conversion& conversion);

}  // namespace tracso::calls
