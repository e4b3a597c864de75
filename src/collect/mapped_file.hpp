#pragma once
// The very file that is mapped somewhere.

#include "tracso/target.hpp"

#include <memory>

namespace tracso {

/// By the mapping itself; where that is not permitted by the path, if the same inode still stands
/// there.
Result<std::unique_ptr<File>> open_mapped_object(const Target& target,
                                                 const MappedRange& range,
                                                 const TargetPath& path);

}  // namespace tracso
