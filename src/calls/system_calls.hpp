#pragma once
// Names of the kernel's system calls. Their arguments are prototypes like those of functions, under
// the same names (system_calls.txt).

#include <cstdint>
#include <string>

namespace tracso::calls {

/// "SYS_openat"; of a number that is not known "SYS_999".
std::string system_call_name(std::uint64_t number);

/// The table as lines of prototypes.txt.
std::string system_call_prototypes();

}  // namespace tracso::calls
