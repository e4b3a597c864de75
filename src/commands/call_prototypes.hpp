#pragma once
// Files of the user that say what functions take and give (calls -F).

#include "tracso/result.hpp"

#include "commands/calls_command.hpp"

namespace tracso {

/// The request with what its files describe. Lines that are not understood are told on the standard
/// error and left out; usage: a file cannot be read.
Result<CallsRequest> with_prototypes(const CallsRequest& request);

}  // namespace tracso
