#pragma once
// A saved `tracso fds --json`.

#include "tracso/resources.hpp"
#include "tracso/result.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace tracso {

struct SavedDescriptors {
  std::int32_t pid = 0;
  std::vector<Descriptor> descriptors;
};

/// nullopt: it is not such a document (another kind, or no JSON at all). malformed: it says that it
/// is one, and its parts are wrong.
Result<std::optional<SavedDescriptors>> read_fds_json(std::string_view text, std::string_view name);

}  // namespace tracso
