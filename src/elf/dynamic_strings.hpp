#pragma once
// Which entries of a dynamic section name a string the loader acts on, and where that string
// belongs.

#include "tracso/dynamic_section.hpp"

#include <cstdint>
#include <string>

namespace tracso::elf {

/// The value of an entry with this tag is an offset into the string table, and the loader uses the
/// string.
bool names_string(std::uint64_t tag);

/// Puts the string of such an entry where it belongs; of a soname, rpath or runpath the last one
/// counts, as in the loader. Other tags change nothing.
void add_string(DynamicSection& section, std::uint64_t tag, std::string text);

}  // namespace tracso::elf
