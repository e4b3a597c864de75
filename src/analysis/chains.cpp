#include "analysis/chains.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <queue>
#include <span>
#include <tuple>
#include <utility>
#include <variant>

namespace tracso {
namespace {

constexpr std::size_t unreachable = std::numeric_limits<std::size_t>::max();
constexpr std::size_t most_half_made = 20'000;  // per library; each is 40 bytes

using Chain = std::vector<EdgeId>;

bool is_start(const Node& node) {
  return is_source(node) || std::holds_alternative<TargetRoot>(node.subject);
}

}  // namespace

/// How far every node is from the nearest root or source, on ways that avoid one node; nullopt: no
/// node. The ways make a forest, whose roots are the starts.
class Distances {
 public:
  Distances(const Graph& graph, std::optional<NodeId> avoided)
      : graph_(graph),
        distance_(graph.nodes().size(), unreachable),
        start_(graph.nodes().size()),
        via_(graph.nodes().size()) {
    for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
      if (is_start(graph.nodes()[i]) && static_cast<NodeId>(i) != avoided) {
        distance_[i] = 0;
        start_[i] = static_cast<NodeId>(i);
        queue_.push_back(static_cast<NodeId>(i));
      }
    }
    looked_at_ = graph.nodes().size();
    for (std::size_t next = 0; next < queue_.size(); ++next) {
      spread(queue_[next], avoided);
      looked_at_ += graph_.effects_of(queue_[next]).size();
    }
  }

  std::size_t of(NodeId node) const { return distance_[index(node)]; }

  /// Where the shortest way to the node begins.
  NodeId start_of(NodeId node) const { return start_[index(node)]; }

  /// The last `most` edges of the shortest way to the node, downwards.
  Chain end_of_way_to(NodeId node, std::size_t most) const {
    Chain chain;
    while (distance_[index(node)] != 0 && chain.size() < most) {
      chain.push_back(via_[index(node)]);
      node = graph_[chain.back()].from;
    }
    std::reverse(chain.begin(), chain.end());
    return chain;
  }

  /// Nodes and edges that were looked at.
  std::uint64_t looked_at() const { return looked_at_; }

  /// What can be reached, the nearest first: who stands above a node in the forest stands before
  /// it.
  std::span<const NodeId> nearest_first() const { return queue_; }

  /// The node above in the forest; nullopt: a start.
  std::optional<NodeId> above(NodeId node) const {
    return of(node) == 0 ? std::nullopt : std::optional(graph_[via_[index(node)]].from);
  }

 private:
  void spread(NodeId node, std::optional<NodeId> avoided) {
    for (const EdgeId id : graph_.effects_of(node)) {
      const NodeId to = graph_[id].to;
      if (to != avoided && distance_[index(to)] == unreachable) {
        distance_[index(to)] = distance_[index(node)] + 1;
        start_[index(to)] = start_[index(node)];
        via_[index(to)] = id;
        queue_.push_back(to);
      }
    }
  }

  const Graph& graph_;
  std::vector<std::size_t> distance_;
  std::vector<NodeId> start_;
  std::vector<EdgeId> via_;
  std::vector<NodeId> queue_;
  std::uint64_t looked_at_ = 0;
};

/// Who stands below whom in the forest of shortest ways: nodes are numbered so that all below one
/// have the numbers right behind its own.
class ShortestWays {
 public:
  explicit ShortestWays(const Graph& graph)
      : distances_(graph, std::nullopt),
        number_(graph.nodes().size()),
        size_(graph.nodes().size(), 1) {
    const auto nodes = distances_.nearest_first();
    for (std::size_t i = nodes.size(); i-- > 0;) {
      if (const auto above = distances_.above(nodes[i])) {
        size_[index(*above)] += size_[index(nodes[i])];
      }
    }
    std::vector<std::size_t> next(graph.nodes().size());
    std::size_t next_start = 0;
    for (const NodeId node : nodes) {
      const auto above = distances_.above(node);
      std::size_t& free = above ? next[index(*above)] : next_start;
      number_[index(node)] = free;
      next[index(node)] = free + 1;
      free += size_[index(node)];
    }
  }

  const Distances& distances() const { return distances_; }

  /// Both can be reached; a node is below itself.
  bool is_below(NodeId node, NodeId above) const {
    const std::size_t first = number_[index(above)];
    const std::size_t number = number_[index(node)];
    return number >= first && number < first + size_[index(above)];
  }

 private:
  Distances distances_;
  std::vector<std::size_t> number_, size_;
};

namespace {

/// Distances on ways that avoid one library. The shortest way to a node that is not below it in the
/// forest does not pass it; only for the others all distances are taken anew, and mostly nobody
/// asks for one of those: they need the library.
class Avoiding {
 public:
  Avoiding(const Graph& graph, const ShortestWays& ways, NodeId avoided, ChainBudget& budget)
      : graph_(graph), ways_(ways), avoided_(avoided), budget_(budget) {}

  std::size_t of(NodeId node) { return node == avoided_ ? unreachable : right_for(node).of(node); }

  NodeId start_of(NodeId node) { return right_for(node).start_of(node); }

  Chain end_of_way_to(NodeId node, std::size_t most) {
    return right_for(node).end_of_way_to(node, most);
  }

 private:
  const Distances& right_for(NodeId node) {
    const Distances& all = ways_.distances();
    const bool passes = all.of(node) != unreachable && all.of(avoided_) != unreachable &&
                        ways_.is_below(node, avoided_);
    if (!passes) {
      return all;
    }
    if (!anew_) {
      anew_.emplace(graph_, avoided_);
      budget_.edges -= std::min(budget_.edges, anew_->looked_at());
    }
    return *anew_;
  }

  const Graph& graph_;
  const ShortestWays& ways_;
  NodeId avoided_;
  ChainBudget& budget_;
  std::optional<Distances> anew_;
};

/// One library's search. Half-made chains are kept as links to the longer half below them.
class Search {
 public:
  Search(
      const Graph& graph, NodeId node, std::size_t depth, Avoiding& distances, ChainBudget& budget)
      : graph_(graph), node_(node), depth_(depth), distances_(distances), budget_(budget) {}

  Chains run() {
    expand(no_link, node_, 0);
    while (!open_.empty() && found_.chains.size() < most_chains && has_budget()) {
      const Rank rank = open_.top();
      open_.pop();
      const Link link = links_[rank.link];
      const NodeId upper = graph_[link.edge].from;
      if (is_start(graph_[upper])) {
        found_.chains.push_back(chain_of(rank.link));
      } else {
        expand(rank.link, upper, link.length);
      }
    }
    found_.cut = found_.cut || !open_.empty();
    return std::move(found_);
  }

 private:
  static constexpr std::size_t no_link = std::numeric_limits<std::size_t>::max();

  struct Link {
    EdgeId edge{};
    std::size_t below = no_link;  // the link nearer to the library
    std::size_t length = 0, later_causes = 0;
  };

  /// Shortest whole chain first; of those the one that is nearest to done, so that a wide graph is
  /// not searched breadth first; then first causes.
  struct Rank {
    std::size_t whole = 0, length = 0, later_causes = 0, link = 0;

    bool operator<(const Rank& other) const {  // priority_queue gives the greatest
      return std::tuple(other.whole, length, other.later_causes, other.link) <
             std::tuple(whole, other.length, later_causes, link);
    }
  };

  bool has_budget() const { return links_.size() < most_half_made && budget_.edges > 0; }

  void expand(std::size_t below, NodeId node, std::size_t length) {
    for (const EdgeId id : graph_.causes_of(node)) {
      const NodeId from = graph_[id].from;
      budget_.edges -= std::min<std::uint64_t>(budget_.edges, 1 + length);
      if (distances_.of(from) == unreachable || stands_in(below, from)) {
        continue;
      }
      const std::size_t whole = length + 1 + distances_.of(from);
      if (depth_ != 0 && whole > depth_) {
        found_.cut = true;
        continue;
      }
      const std::size_t later =
          (below == no_link ? 0 : links_[below].later_causes) + (graph_[id].first ? 0 : 1);
      links_.push_back({.edge = id, .below = below, .length = length + 1, .later_causes = later});
      open_.push(
          {.whole = whole, .length = length + 1, .later_causes = later, .link = links_.size() - 1});
    }
  }

  bool stands_in(std::size_t link, NodeId node) const {
    for (; link != no_link; link = links_[link].below) {
      if (graph_[links_[link].edge].from == node) {
        return true;
      }
    }
    return node == node_;
  }

  Chain chain_of(std::size_t link) const {
    Chain chain;
    for (; link != no_link; link = links_[link].below) {
      chain.push_back(links_[link].edge);
    }
    return chain;
  }

  const Graph& graph_;
  NodeId node_;
  std::size_t depth_;
  Avoiding& distances_;
  ChainBudget& budget_;
  std::vector<Link> links_;
  std::priority_queue<Rank> open_;
  Chains found_;
};

/// Up along the edges that caused the loads; nullopt where they are not known, longer than `depth`
/// or go round in a circle.
std::optional<Chain> causal_chain(const Graph& graph, NodeId node, std::size_t depth) {
  const std::size_t longest = depth != 0 ? depth : graph.nodes().size();
  Chain chain;
  while (!is_start(graph[node])) {
    const auto causes = graph.causes_of(node);
    const auto first =
        std::find_if(causes.begin(), causes.end(), [&](EdgeId id) { return graph[id].first; });
    if (first == causes.end() || chain.size() == longest) {
      return std::nullopt;
    }
    chain.push_back(*first);
    node = graph[*first].from;
  }
  std::reverse(chain.begin(), chain.end());
  return chain;
}

struct Shortest {
  NodeId start{};
  std::size_t length = 0;
  Chain end;  // no more than was asked for
};

// Its last `depth` edges; 0: all.
std::optional<Shortest> shortest_chain(const Graph& graph,
                                       NodeId node,
                                       std::size_t depth,
                                       Avoiding& distances) {
  std::optional<EdgeId> last;
  for (const EdgeId id : graph.causes_of(node)) {
    const std::size_t distance = distances.of(graph[id].from);
    if (distance != unreachable && (!last || distance < distances.of(graph[*last].from))) {
      last = id;
    }
  }
  if (!last) {
    return std::nullopt;
  }
  const NodeId above = graph[*last].from;
  const std::size_t most = depth == 0 ? unreachable : depth - 1;
  Shortest shortest{.start = distances.start_of(above),
                    .length = distances.of(above) + 1,
                    .end = distances.end_of_way_to(above, most)};
  shortest.end.push_back(*last);
  return shortest;
}

void include(std::vector<Chain>& chains, const std::optional<Chain>& chain, std::size_t depth) {
  if (!chain || chain->empty() || (depth != 0 && chain->size() > depth) ||
      std::find(chains.begin(), chains.end(), *chain) != chains.end()) {
    return;
  }
  if (chains.size() >= most_chains) {
    chains.pop_back();
  }
  chains.push_back(*chain);
}

std::size_t later_causes(const Graph& graph, const Chain& chain) {
  return static_cast<std::size_t>(
      std::count_if(chain.begin(), chain.end(), [&](EdgeId id) { return !graph[id].first; }));
}

void sort(const Graph& graph, std::vector<Chain>& chains) {
  std::stable_sort(chains.begin(), chains.end(), [&](const Chain& one, const Chain& other) {
    return std::pair(one.size(), later_causes(graph, one)) <
           std::pair(other.size(), later_causes(graph, other));
  });
}

}  // namespace

ChainFinder::ChainFinder(const Graph& graph)
    : graph_(graph), ways_(std::make_unique<ShortestWays>(graph)) {}

ChainFinder::~ChainFinder() = default;

Chains ChainFinder::find(NodeId node, std::size_t depth, ChainBudget& budget) const {
  Chains result;
  const std::optional<Chain> causal = causal_chain(graph_, node, depth);
  if (budget.edges == 0) {
    include(result.chains, causal, depth);
    result.cut = true;
    return result;
  }
  Avoiding distances(graph_, *ways_, node, budget);
  result = Search(graph_, node, depth, distances, budget).run();
  auto shortest = shortest_chain(graph_, node, depth, distances);
  if (shortest && shortest->end.size() == shortest->length) {
    include(result.chains, shortest->end, depth);
  }
  include(result.chains, causal, depth);
  sort(graph_, result.chains);
  if (result.chains.empty() && shortest) {
    result.cut_from = shortest->start;
    result.steps_cut = shortest->length - depth;
    result.chains.push_back(std::move(shortest->end));
  }
  return result;
}

}  // namespace tracso
