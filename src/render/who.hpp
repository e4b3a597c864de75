#pragma once
// --who: the processes that have a library.

#include "tracso/renderer.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace tracso {

/// One library in one process, in words.
struct WhoRow {
  std::int32_t pid = 0;
  std::string command, name, path, build_id;
  std::string version, version_source;
  std::string state;  ///< "current", "replaced", "deleted", "rewritten"
  std::string container, distribution;
};

struct WhoTable {
  std::string query;
  std::vector<WhoRow> rows;
  std::size_t processes = 0;  ///< that were looked at
  std::vector<Notice> notices;
};

std::string who_text(const RenderOptions& options, const WhoTable& table);
std::string who_json(const WhoTable& table);

}  // namespace tracso
