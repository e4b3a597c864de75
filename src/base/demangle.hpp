#pragma once
// Names of C++ functions as in the source.

#include <string>

namespace tracso {

/// "_Z3fooi" -> "foo(int)"; any other name, and one of more than 2048 bytes, as it is: demangling
/// has no other bound.
std::string demangled(const std::string& symbol);

}  // namespace tracso
