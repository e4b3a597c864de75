#pragma once
// Why the kernel said no, and what would make it say yes.

#include "tracso/result.hpp"

#include <cstdint>
#include <string>

namespace tracso::os {

/// What anybody may see of a process: name, user, state, memory.
struct VisibleProcess {
  std::string name, user, command;
  std::uint32_t uid = 0;
  std::string state, resident;
  bool traced = false;  ///< another tracer holds it
};

VisibleProcess look_from_outside(std::int32_t pid);

/// What keeps us out; texts and numbers as the kernel gives them.
struct Obstacle {
  std::uint32_t our_uid = 0;
  bool have_ptrace_capability = false;  ///< CAP_SYS_PTRACE is effective
  bool in_container = false;
  int yama_scope = -1;  ///< kernel.yama.ptrace_scope; -1: no yama
};

Obstacle look_at_obstacle();

/// A denied Error with what is still visible and a hint that is true for this user now: no "run as
/// root" to root.
Error explain_denial(Error error, const VisibleProcess& visible, const Obstacle& obstacle);

/// "root" from the /etc/passwd text of this machine; the number where it has no name.
std::string user_name(std::uint32_t uid);

}  // namespace tracso::os
