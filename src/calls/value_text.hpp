#pragma once
// One value of a call as people read it.

#include "calls/argument_places.hpp"
#include "calls/events.hpp"
#include "calls/prototypes.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace tracso::calls {

/// A word of an argument or a result.
using Value = PlacedWord;

/// "a\n\"\001" in quotes, "..." behind if it was cut: C's escapes for everything that is not
/// printable ASCII or whole UTF-8.
std::string quoted(std::string_view bytes, bool cut);
/// The bits of a float (`size` 4) or a double.
std::string floating_text(std::uint64_t word, std::uint8_t size);
/// Of a word of which nothing is known: small numbers are numbers.
std::string word_text(std::uint64_t word);
/// A double with a size of 8, a float with 4, as %a writes it.
std::string hexadecimal_floating_text(std::uint64_t word, std::uint8_t size);
/// "<3-5,7>": the bits that are set; "~<0>" where most are, those that are not. Bit 0 is the lowest
/// of the first byte.
std::string bits_text(std::string_view bytes);
/// "nil" or "0x55d0".
std::string pointer_text(std::uint64_t word);
/// The low `size` bytes, as a number with a sign or without.
std::int64_t signed_value(std::uint64_t word, std::uint8_t size);
std::uint64_t unsigned_value(std::uint64_t word, std::uint8_t size);
/// By its type; what pointers lead to stands in `event`. "?": not known.
std::string value_text(const Value& value, const Type& type, const CallEvent& event);

}  // namespace tracso::calls
