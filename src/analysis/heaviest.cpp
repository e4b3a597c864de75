#include "analysis/heaviest.hpp"

#include "analysis/bytes.hpp"

#include <algorithm>

namespace tracso {

std::vector<DependedOn> heaviest_libraries(const Trace& trace, const Summary& summary) {
  std::vector<DependedOn> libraries = summary.libraries;
  const auto weight = [&](const DependedOn& library) {
    return bytes_of(trace.graph[library.node].cost, summary.by).value_or(0);
  };
  std::stable_sort(
      libraries.begin(), libraries.end(), [&](const DependedOn& one, const DependedOn& other) {
        return weight(one) > weight(other);
      });
  return libraries;
}

}  // namespace tracso
