#pragma once
// Descriptors in words, harmless for a terminal.

#include "tracso/resources.hpp"

#include <string>

namespace tracso {

/// "/data/f0 (deleted)", "tcp 10.0.0.2:41446 -> 10.0.0.9:5432": what it is open on.
std::string descriptor_target(const Descriptor& descriptor);
/// "listening; 100 B to be read; other end: 4711 sleep fd 3"; empty: nothing to say.
std::string descriptor_detail(const Descriptor& descriptor);
/// Both and the number: "fd 5 tcp 10.0.0.2:41446 -> 10.0.0.9:5432 (100 B to be read)".
std::string descriptor_phrase(const Descriptor& descriptor);

}  // namespace tracso
