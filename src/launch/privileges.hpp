#pragma once
// Has tracing cost a program its privileges?

#include "tracso/target.hpp"

namespace tracso::launch {

/// Set-user-ID, but run with other privileges than its owner's.
bool lacks_privileges(const ProcessSource& process);

}  // namespace tracso::launch
