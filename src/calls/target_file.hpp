#pragma once
// The file behind a mapping of a process.

#include "tracso/mapping.hpp"
#include "tracso/result.hpp"
#include "tracso/target.hpp"

#include <memory>

namespace tracso::calls {

/// The very file that is mapped; where the kernel does not let us have that, the one of its path,
/// if it is still the same (device and inode).
Result<std::unique_ptr<File>> open_file_of(const Target& target, const Mapping& mapping);

}  // namespace tracso::calls
