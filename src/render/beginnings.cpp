#include "render/beginnings.hpp"

namespace tracso {
namespace {

class Reach {
 public:
  explicit Reach(const Graph& graph) : graph_(graph), reached_(graph.nodes().size(), false) {}

  /// Every node not yet reached that is wanted becomes a beginning.
  template <class Wanted>
  void begin_where(const Wanted& wanted) {
    for (std::size_t i = 0; i < reached_.size(); ++i) {
      const NodeId id{static_cast<std::uint32_t>(i)};
      if (!reached_[i] && wanted(id)) {
        begin(id);
      }
    }
  }

  std::vector<NodeId> take() { return std::move(beginnings_); }

 private:
  void begin(NodeId beginning) {
    beginnings_.push_back(beginning);
    std::vector<NodeId> open{beginning};
    reached_[index(beginning)] = true;
    while (!open.empty()) {
      const NodeId node = open.back();
      open.pop_back();
      for (const EdgeId edge : graph_.effects_of(node)) {
        const NodeId to = graph_[edge].to;
        if (!reached_[index(to)]) {
          reached_[index(to)] = true;
          open.push_back(to);
        }
      }
    }
  }

  const Graph& graph_;
  std::vector<bool> reached_;
  std::vector<NodeId> beginnings_;
};

}  // namespace

std::vector<NodeId> beginnings(const Graph& graph) {
  Reach reach(graph);
  const auto uncaused = [&](NodeId id) { return graph.causes_of(id).empty(); };
  reach.begin_where([&](NodeId id) {
    return uncaused(id) && std::holds_alternative<TargetRoot>(graph[id].subject);
  });
  reach.begin_where([&](NodeId id) { return uncaused(id) && is_source(graph[id]); });
  reach.begin_where(uncaused);
  reach.begin_where([](NodeId) { return true; });
  return reach.take();
}

}  // namespace tracso
