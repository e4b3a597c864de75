#pragma once
// gdb as a helper that must never be killed at the wrong moment: it runs in a session of its own,
// so no Ctrl-C reaches it, under a guardian process that outlives us if need be.

#include "tracso/gdb_session.hpp"

namespace tracso::os {

/// Starts gdb (PATH, then the usual directories) with a clean environment and the job's script. No
/// file is made: script, code and answer live in memory (memfd_create(2)). Errors: missing_tool,
/// failed.
Result<std::unique_ptr<GdbSession>> start_gdb_session(const GdbJob& job);

}  // namespace tracso::os
