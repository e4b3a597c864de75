#pragma once
// --why for one library after the other of a trace: a page has the answer for each.

#include "tracso/answers.hpp"

#include "analysis/chains.hpp"

#include <cstddef>

namespace tracso {

/// As explain_why() of a path that only this node has; what the answers have in common is found
/// once. All of them together look at 200 million edges (some seconds): then only the causal chains
/// are given. The trace must outlive this.
class WhyEach {
 public:
  explicit WhyEach(const Trace& trace) : trace_(trace), finder_(trace.graph) {}

  WhyAnswer about(NodeId node, std::size_t depth);

 private:
  const Trace& trace_;
  ChainFinder finder_;
  ChainBudget budget_{.edges = 200'000'000};
};

}  // namespace tracso
