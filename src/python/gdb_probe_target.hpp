#pragma once
// May gdb be let loose on this process, and at which addresses does it find what it calls?

#include "tracso/python_probe.hpp"

#include "python/gdb_script.hpp"

#include <string>

namespace tracso::python {

struct GdbTarget {
  GdbScriptInput script;
  std::string version;   ///< as far as known from outside
  bool stopped = false;  ///< state T
};

/// Everything is looked up in the memory of the process; nothing is started. Errors as
/// make_gdb_probe says.
Result<GdbTarget> examine_gdb_target(const ProbeInput& input);

/// The error of a refused attach or memory read, with a hint that names what is missing: the user,
/// CAP_SYS_PTRACE, or the setting of Yama where it says no.
Error not_permitted(const Target& target, std::string reason);

}  // namespace tracso::python
