#pragma once
// Names that nothing satisfies: one node each, however many ask for it.

#include "tracso/graph.hpp"

#include <map>
#include <string>
#include <utility>

namespace tracso {

class MissingNodes {
 public:
  explicit MissingNodes(Graph& graph) : graph_(graph) {}

  /// The node of that name as it was written, made if new.
  NodeId get(const std::string& wanted) {
    const auto known = nodes_.find(wanted);
    if (known != nodes_.end()) {
      return known->second;
    }
    ObjectFile missing;
    missing.state = ObjectFile::State::missing;
    missing.wanted = wanted;
    return nodes_.emplace(wanted, graph_.add(std::move(missing))).first->second;
  }

 private:
  Graph& graph_;
  std::map<std::string, NodeId> nodes_;
};

}  // namespace tracso
