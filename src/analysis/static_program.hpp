#pragma once
// Programs without any library.

#include "tracso/trace.hpp"

namespace tracso {

/// All that is there is a program that asks for no loader and needs nothing.
bool is_statically_linked(const Trace& trace);

}  // namespace tracso
