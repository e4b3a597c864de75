#pragma once
// A quick look at Python source before the careful one: of a few hundred sources a few dozen import
// an extension module, and only those need to be parsed.

#include "python/word_set.hpp"

#include <string_view>

namespace tracso::python {

/// Of a name in Python source; bytes above ASCII count as letters.
inline bool is_word_character(char character) {
  const auto byte = static_cast<unsigned char>(character);
  return byte >= 0x80 || character == '_' || (character >= '0' && character <= '9') ||
         (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z');
}

/// False: no import statement of the source names a module or an attribute that is among `words`.
/// True may be due to a comment or a string.
bool may_import(std::string_view source, const WordSet& words);

}  // namespace tracso::python
