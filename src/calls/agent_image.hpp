#pragma once
// The agent as it lies in this program (src/agent, built as a shared object of its own).

#include <cstddef>
#include <span>

namespace tracso::calls {

/// The bytes of the shared object; empty: there is none for this processor.
std::span<const std::byte> agent_image();

}  // namespace tracso::calls
