#pragma once
// Text files beside the modules (sources, what installers wrote down), read through the target's
// doors.

#include "tracso/module_files.hpp"
#include "tracso/target.hpp"

#include <cstdint>
#include <string>

namespace tracso::python {

/// The first `most` bytes of the file, or all of it if it has fewer.
Result<std::string> read_text(const File& file, std::uint64_t most);

/// One more file that was not read.
void note_unread(UnreadFiles& unread, const std::string& path, const std::string& reason);

}  // namespace tracso::python
