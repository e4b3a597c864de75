#include "analysis/cycles.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace tracso {
namespace {

bool is_need(const Edge& edge) {
  return edge.kind == EdgeKind::needed || edge.kind == EdgeKind::filter ||
         edge.kind == EdgeKind::auxiliary;
}

/// Depth first with a stack of its own: a document may hold a chain of any length.
class DepthFirst {
 public:
  explicit DepthFirst(const Graph& graph)
      : graph_(graph), state_(graph.nodes().size()), closing_(graph.edges().size()) {}

  void walk_from(NodeId start) {
    enter(start);
    while (!stack_.empty()) {
      Frame& frame = stack_.back();
      const auto effects = graph_.effects_of(frame.node);
      if (frame.next == effects.size()) {
        state_[index(frame.node)] = State::done;
        stack_.pop_back();
        continue;
      }
      follow(effects[frame.next++]);
    }
  }

  std::vector<bool> take() { return std::move(closing_); }

 private:
  enum class State : std::uint8_t { unseen, open, done };

  struct Frame {
    NodeId node{};
    std::size_t next = 0;
  };

  void enter(NodeId node) {
    if (state_[index(node)] == State::unseen) {
      state_[index(node)] = State::open;
      stack_.push_back({.node = node});
    }
  }

  void follow(EdgeId id) {
    const Edge& edge = graph_[id];
    if (!is_need(edge)) {
      return;
    }
    closing_[index(id)] = state_[index(edge.to)] == State::open;
    enter(edge.to);
  }

  const Graph& graph_;
  std::vector<State> state_;
  std::vector<bool> closing_;
  std::vector<Frame> stack_;
};

bool is_needed_by_another(const Graph& graph, NodeId node) {
  for (const EdgeId id : graph.causes_of(node)) {
    if (is_need(graph[id]) && graph[id].from != node) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::vector<bool> closing_edges(const Graph& graph) {
  DepthFirst search(graph);
  for (const bool from_top : {true, false}) {
    for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
      const auto node = static_cast<NodeId>(i);
      // A cycle entered in its middle would be closed by the edge that leads into it from above.
      if (!from_top || !is_needed_by_another(graph, node)) {
        search.walk_from(node);
      }
    }
  }
  return search.take();
}

}  // namespace tracso
