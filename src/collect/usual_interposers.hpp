#pragma once
// Who takes the place of another library's functions by design, so that nobody is alarmed.

#include "tracso/graph.hpp"

#include <string_view>

namespace tracso {

/// "C library", "preload", "allocator", "sanitizer", "C++"; empty: nothing usual about it. `weak`:
/// the promised definition is a weak one, which gives way to any other.
std::string_view usual_interposition(const ObjectFile& provider,
                                     const ObjectFile& promised,
                                     std::string_view symbol,
                                     bool weak);

}  // namespace tracso
