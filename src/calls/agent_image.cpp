#include "calls/agent_image.hpp"

#ifdef TRACSO_AGENT_FILE
// .incbin takes the file as it is; CMakeLists.txt has it built before.
__asm__(
    ".section .rodata\n"
    ".balign 16\n"
    ".global tracso_agent_start\n"
    ".hidden tracso_agent_start\n"
    ".global tracso_agent_end\n"
    ".hidden tracso_agent_end\n"
    "tracso_agent_start:\n"
    ".incbin \"" TRACSO_AGENT_FILE
    "\"\n"
    "tracso_agent_end:\n"
    ".byte 0\n"
    ".previous\n");
extern "C" const std::byte tracso_agent_start[];
extern "C" const std::byte tracso_agent_end[];
#endif

namespace tracso::calls {

std::span<const std::byte> agent_image() {
#ifdef TRACSO_AGENT_FILE
  return {tracso_agent_start, tracso_agent_end};
#else
  return {};
#endif
}

}  // namespace tracso::calls
