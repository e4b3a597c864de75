#pragma once
// The processor and kernel of the machine that the target runs on.

#include "loader/hwcaps.hpp"

#include <string>

namespace tracso {

/// From what cpu_text wrote; empty: those of this machine. What does not read as such makes no
/// claims.
loader::CpuFacts cpu_of_target(const std::string& text);

}  // namespace tracso
