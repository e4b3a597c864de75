#pragma once
// What tracso itself has left in a process: the agent of `tracso calls` (a memfd, memfd_create(2)).

#include <string_view>

namespace tracso {

/// The path of a mapping is that of the agent: it is nobody's library.
inline bool is_own_agent(std::string_view path) {
  return path.starts_with("/memfd:tracso-agent.so");
}

}  // namespace tracso
