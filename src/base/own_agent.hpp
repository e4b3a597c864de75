#pragma once
// What tracso itself has left in a process: the agent of `tracso calls` (a memfd, memfd_create(2)).

#include <cstdint>
#include <string_view>

namespace tracso {

/// The path of a mapping is that of the agent: it is nobody's library.
inline bool is_own_agent(std::string_view path) {
  return path.starts_with("/memfd:tracso-agent.so");
}

/// Where the agent keeps what it knows of calls under way: 4 TB of address space, nearly all of it
/// never touched (src/agent/mirror.inc).
inline constexpr std::uint64_t own_mirror_start = std::uint64_t{1} << 45;
inline constexpr std::uint64_t own_mirror_bytes = std::uint64_t{1} << 42;

/// The range lies in that room: nothing of the process's own is there.
inline bool is_own_room(std::uint64_t start, std::uint64_t end) {
  return start >= own_mirror_start && end <= own_mirror_start + own_mirror_bytes;
}

}  // namespace tracso
