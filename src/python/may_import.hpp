#pragma once
// A quick look at Python source before the careful one: of a few hundred sources a few dozen import
// an extension module, and only those need to be parsed.

#include "python/word_set.hpp"

#include <string_view>

namespace tracso::python {

/// False: no import statement of the source names a module or an attribute that is among `words`.
/// True may be due to a comment or a string.
bool may_import(std::string_view source, const WordSet& words);

}  // namespace tracso::python
