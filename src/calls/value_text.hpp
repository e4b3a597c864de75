#pragma once
// One value of a call as people read it.

#include "calls/events.hpp"
#include "calls/prototypes.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace tracso::calls {

/// Where an argument or a result lies, and what.
struct Value {
  std::uint64_t word = 0;
  std::uint8_t of = 0;  ///< enum tracso_piece_of: whose bytes were copied
  bool known = false;
};

/// "a\n\"\001" in quotes, "..." behind if it was cut: C's escapes for everything that is not
/// printable ASCII or whole UTF-8.
std::string quoted(std::string_view bytes, bool cut);
/// The bits of a float (`size` 4) or a double.
std::string floating_text(std::uint64_t word, std::uint8_t size);
/// Of a word of which nothing is known: small numbers are numbers.
std::string word_text(std::uint64_t word);
/// "nil" or "0x55d0".
std::string pointer_text(std::uint64_t word);
/// By its type; what pointers lead to stands in `event`. "?": not known.
std::string value_text(const Value& value, const Type& type, const CallEvent& event);

}  // namespace tracso::calls
