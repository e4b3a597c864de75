#pragma once

// Exit statuses that more than one command ends with (docs/exit-status.md).

namespace tracso {

constexpr int status_not_found = 1;
constexpr int status_ended = 3;  ///< the process has ended before all was known
constexpr int status_refused = 4;

}  // namespace tracso
