#pragma once
// tracso record PID -o DEST.

#include "commands/request.hpp"

namespace tracso {

/// Writes the recording; the exit status.
int record(const RecordRequest& request);

}  // namespace tracso
