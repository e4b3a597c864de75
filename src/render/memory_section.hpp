#pragma once
// The part of the report that says what all memory of the process is for.

#include "tracso/renderer.hpp"

#include <string>
#include <string_view>

namespace tracso {

/// "heap (malloc)": as people read it; the document has short names.
std::string_view class_words(MemoryClass what);

/// Heaviest first by the bytes that rank (`by`), the whole last; empty: it was not measured.
std::string memory_section(const RenderOptions& options, const Trace& trace, ByteKind by);

}  // namespace tracso
