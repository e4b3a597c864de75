#pragma once
// The kernel names files as their observer sees them: of a process with a root directory of its own
// (chroot(2)) the links and maps in /proc/PID say "/srv/jail/lib/libc.so.6" where the process says
// "/lib/libc.so.6".

#include "tracso/target.hpp"

#include <string>

namespace tracso::proc {

/// Where the process' root directory stands, without a slash at the end. Empty: it is the
/// observer's, or cannot be read.
std::string root_prefix(const ProcessSource& process);

/// True if the program stands outside of that root: it changed its root after it was loaded, as
/// daemons do to lock themselves up, and what it has loaded until then has paths of the old root.
bool is_locked_up(const ProcessSource& process, const std::string& prefix);

/// The prefix by which paths in /proc/PID differ from those that its loader used: empty for a
/// process that locked itself up.
std::string loading_prefix(const ProcessSource& process);

/// The path as the process sees it; one outside of its root stays as it is.
std::string without_prefix(std::string path, const std::string& prefix);

}  // namespace tracso::proc
