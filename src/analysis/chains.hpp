#pragma once
// How did one get from a source to a library? The chains behind --why.
//
// Between two objects of a real process there can be more simple chains than atoms anywhere (three
// layers of twenty libraries that all need the next layer: 8000), so nothing here lists them all.
// The search goes backwards from the library, best first: a half-made chain ranks by its length
// plus the distance from its upper end to the nearest root (A*), so whole chains come out shortest
// first and the first ones after a handful of steps. Distances are taken without the library
// itself: who can be reached only through it has none, and a cycle below it costs nothing. They are
// those of all libraries but for what stands below the library on the shortest ways.
//
// Two chains are certain whatever the budget: the shortest, and the one along the edges that really
// caused the loads.

#include "tracso/graph.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace tracso {

struct Chains {
  std::vector<std::vector<EdgeId>> chains;  ///< from a root or source down, shortest first; of
                                            ///< equal length those along first causes first
  bool cut = false;                         ///< there are (or may be) more, or longer ones
  std::optional<NodeId> cut_from;           ///< where the one chain that was cut begins
  std::size_t steps_cut = 0;                ///< between there and what is left of it
};

/// What a whole answer may cost, in edges looked at (20 million: under a second); when it is used
/// up only the causal chains are given.
struct ChainBudget {
  std::uint64_t edges = 20'000'000;
};

constexpr std::size_t most_chains = 64;  ///< per library

class ShortestWays;

/// Chains to one library after the other of a graph, which must outlive this. What they have in
/// common is found once: of a long chain of libraries each answer takes a few steps, not a walk
/// over all of the graph.
class ChainFinder {
 public:
  explicit ChainFinder(const Graph& graph);
  ~ChainFinder();
  ChainFinder(const ChainFinder&) = delete;
  ChainFinder& operator=(const ChainFinder&) = delete;

  /// The simple chains to `node` of at most `depth` edges (0: any length). Where all are longer:
  /// the end of the shortest one, cut.
  Chains find(NodeId node, std::size_t depth, ChainBudget& budget) const;

 private:
  const Graph& graph_;
  std::unique_ptr<const ShortestWays> ways_;
};

}  // namespace tracso
