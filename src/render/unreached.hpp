#pragma once
// Libraries that a loader which gave up had not come to.

#include "tracso/graph.hpp"

namespace tracso {

inline bool is_unreached(const Node& node) {
  const ObjectFile* file = object(node);
  return file != nullptr && file->first_cause == "not reached";
}

}  // namespace tracso
