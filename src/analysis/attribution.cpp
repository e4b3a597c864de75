#include "analysis/attribution.hpp"

#include <algorithm>
#include <bit>
#include <span>
#include <string>
#include <utility>

namespace tracso {
namespace {

constexpr std::size_t sources_per_walk = 64;  // the bits of a mask

bool brings_in(EdgeKind kind) {
  return kind != EdgeKind::origin && kind != EdgeKind::interpreter;
}

bool can_be_owned(const Node& node) {
  const ObjectFile* file = object(node);
  return file != nullptr && file->role != ObjectFile::Role::executable;
}

/// One walk of up to 64 sources: a set bit says that the source reaches the node.
class Walk {
 public:
  explicit Walk(const Graph& graph)
      : graph_(graph), mask_(graph.nodes().size()), queued_(graph.nodes().size()) {}

  /// `sources`: at most 64, by name; appended to the owners of all they reach. Gives how many
  /// pairs that made.
  std::size_t run(std::span<const NodeId> sources, std::vector<std::vector<NodeId>>& owners) {
    std::size_t pairs = 0;
    for (std::size_t bit = 0; bit < sources.size(); ++bit) {
      for (const EdgeId edge : graph_.effects_of(sources[bit])) {
        mark(graph_[edge].to, std::uint64_t{1} << bit);
      }
    }
    spread();
    for (const NodeId node : touched_) {
      pairs += static_cast<std::size_t>(std::popcount(mask_[index(node)]));
      for (std::uint64_t rest = mask_[index(node)]; rest != 0; rest &= rest - 1) {
        owners[index(node)].push_back(sources[static_cast<std::size_t>(std::countr_zero(rest))]);
      }
      mask_[index(node)] = 0;
    }
    touched_.clear();
    return pairs;
  }

 private:
  void mark(NodeId node, std::uint64_t bits) {
    std::uint64_t& mask = mask_[index(node)];
    if ((bits & ~mask) == 0 || !can_be_owned(graph_[node])) {
      return;
    }
    if (mask == 0) {
      touched_.push_back(node);
    }
    mask |= bits;
    if (!queued_[index(node)]) {
      queued_[index(node)] = true;
      queue_.push_back(node);
    }
  }

  /// A node comes back only with a bit it did not have, so this ends, cycles or not.
  void spread() {
    for (std::size_t next = 0; next < queue_.size(); ++next) {
      const NodeId node = queue_[next];
      queued_[index(node)] = false;
      for (const EdgeId edge : graph_.effects_of(node)) {
        if (brings_in(graph_[edge].kind)) {
          mark(graph_[edge].to, mask_[index(node)]);
        }
      }
    }
    queue_.clear();
  }

  const Graph& graph_;
  std::vector<std::uint64_t> mask_;
  std::vector<bool> queued_;
  std::vector<NodeId> queue_, touched_;
};

std::optional<std::uint64_t> part(std::optional<std::uint64_t> bytes,
                                  std::size_t owners,
                                  std::size_t rank) {
  return bytes ? std::optional(share_of(*bytes, owners, rank)) : std::nullopt;
}

}  // namespace

std::vector<NodeId> sources_by_name(const Graph& graph) {
  std::vector<std::pair<std::string, NodeId>> named;
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    if (is_source(graph.nodes()[i])) {
      named.emplace_back(display_name(graph.nodes()[i]), static_cast<NodeId>(i));
    }
  }
  std::sort(named.begin(), named.end());
  std::vector<NodeId> sources;
  for (const auto& [name, source] : named) {
    sources.push_back(source);
  }
  return sources;
}

std::vector<std::vector<NodeId>> attribute(const Graph& graph,
                                           std::size_t limit,
                                           std::size_t* left_out) {
  std::vector<std::vector<NodeId>> owners(graph.nodes().size());
  const std::vector<NodeId> sources = sources_by_name(graph);
  Walk walk(graph);
  std::size_t pairs = 0;
  std::size_t done = 0;
  while (done < sources.size() && pairs <= limit) {
    const std::size_t count = std::min(sources_per_walk, sources.size() - done);
    pairs += walk.run(std::span(sources).subspan(done, count), owners);
    done += count;
  }
  if (left_out != nullptr) {
    *left_out = sources.size() - done;
  }
  return owners;
}

std::uint64_t share_of(std::uint64_t bytes, std::size_t owners, std::size_t rank) {
  return bytes / owners + (rank == 0 ? bytes % owners : 0);
}

Cost share_of(const Cost& cost, std::size_t owners, std::size_t rank) {
  return {.file = part(cost.file, owners, rank),
          .resident = part(cost.resident, owners, rank),
          .private_bytes = part(cost.private_bytes, owners, rank),
          .relocations = part(cost.relocations, owners, rank)};
}

}  // namespace tracso
