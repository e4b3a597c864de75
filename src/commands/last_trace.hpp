#pragma once
// The last trace of this user on this boot, so that the report's own hint ("Try: tracso --why
// <lib>") works as printed.

#include "tracso/result.hpp"
#include "tracso/trace.hpp"

#include <string>

namespace tracso {

/// Saves the whole trace (names uncut) under the user's state folder, mode 0600. Does nothing with
/// TRACSO_NO_STATE=1.
Result<Done> save_last_trace(const Trace& trace);

/// usage: there is none, with a hint.
Result<Trace> load_last_trace();

}  // namespace tracso
