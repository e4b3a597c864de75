#include "tracso/analysis.hpp"

#include "analysis/attribution.hpp"
#include "analysis/bytes.hpp"
#include "analysis/counted_calls.hpp"
#include "analysis/cycles.hpp"
#include "analysis/import_costs.hpp"
#include "analysis/notable.hpp"
#include "analysis/packages.hpp"
#include "analysis/refusals.hpp"
#include "analysis/unique_ids.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <variant>

namespace tracso {
namespace {

/// Of a process what is mapped, of a FILE what was found.
std::vector<NodeId> counted_libraries(const Trace& trace) {
  std::vector<NodeId> libraries;
  const auto nodes = trace.graph.nodes();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (is_counted(nodes[i]) && (!trace.process || object(nodes[i])->loaded)) {
      libraries.push_back(static_cast<NodeId>(i));
    }
  }
  return libraries;
}

Totals totals_of(const Trace& trace, std::span<const NodeId> libraries) {
  CostSum sum;
  for (const NodeId library : libraries) {
    sum.add(trace.graph[library].cost);
  }
  Totals totals{.libraries = libraries.size(),
                .file = sum.file.known(),
                .resident = sum.resident.complete(),
                .private_bytes = sum.private_bytes.complete()};
  if (!trace.process && libraries.empty()) {
    totals.resident = totals.private_bytes = std::nullopt;  // nothing runs: not 0 but no figure
  }
  return totals;
}

/// Counts distinct neighbours: two edges between the same two nodes are one dependency, and neither
/// itself nor the label of the target is one.
class Neighbours {
 public:
  explicit Neighbours(const Graph& graph) : graph_(graph), seen_(graph.nodes().size()) {}

  std::size_t causes(NodeId node) {
    return count(node, graph_.causes_of(node), [](const Edge& edge) { return edge.from; });
  }

  std::size_t effects(NodeId node) {
    return count(node, graph_.effects_of(node), [](const Edge& edge) { return edge.to; });
  }

 private:
  template <class Other>
  std::size_t count(NodeId node, std::span<const EdgeId> edges, Other other) {
    ++round_;
    std::size_t distinct = 0;
    for (const EdgeId edge : edges) {
      const NodeId neighbour = other(graph_[edge]);
      const bool is_label = std::holds_alternative<TargetRoot>(graph_[neighbour].subject);
      if (neighbour != node && !is_label && seen_[index(neighbour)] != round_) {
        seen_[index(neighbour)] = round_;
        ++distinct;
      }
    }
    return distinct;
  }

  const Graph& graph_;
  std::vector<std::size_t> seen_;  // the round that saw the node last
  std::size_t round_ = 0;
};

void count_degrees(const Graph& graph, Summary& summary) {
  Neighbours neighbours(graph);
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    summary.in_degree.push_back(neighbours.causes(static_cast<NodeId>(i)));
    summary.out_degree.push_back(neighbours.effects(static_cast<NodeId>(i)));
  }
}

/// Names are made once per node, not once per comparison.
struct Ranked {
  std::size_t in_degree = 0;
  std::uint64_t bytes = 0;
  std::string name;
  NodeId node{};
};

std::vector<Ranked> ranked(const Trace& trace,
                           const Summary& summary,
                           std::span<const NodeId> libraries) {
  std::vector<Ranked> result;
  for (const NodeId library : libraries) {
    const Node& node = trace.graph[library];
    result.push_back({.in_degree = summary.in_degree[index(library)],
                      .bytes = bytes_of(node.cost, summary.by).value_or(0),
                      .name = display_name(node),
                      .node = library});
  }
  return result;
}

bool is_larger(const Ranked& one, const Ranked& other) {
  return one.bytes != other.bytes ? one.bytes > other.bytes : one.name < other.name;
}

bool is_more_needed(const Ranked& one, const Ranked& other) {
  return one.in_degree != other.in_degree ? one.in_degree > other.in_degree : is_larger(one, other);
}

std::vector<DependedOn> depended_on(const Trace& trace,
                                    const Summary& summary,
                                    std::span<const NodeId> libraries) {
  std::vector<Ranked> rows = ranked(trace, summary, libraries);
  std::stable_sort(rows.begin(), rows.end(), is_more_needed);
  std::vector<DependedOn> table;
  for (const Ranked& row : rows) {
    table.push_back({.node = row.node,
                     .in_degree = row.in_degree,
                     .packages = summary.sources[index(row.node)].size()});
  }
  return table;
}

/// An object needs it or loaded it, or it is itself what was asked for.
bool has_parent(const Graph& graph, NodeId node) {
  const auto causes = graph.causes_of(node);
  return std::any_of(causes.begin(), causes.end(), [&](EdgeId id) {
    const Edge& edge = graph[id];
    const bool is_asked_for = edge.kind == EdgeKind::origin &&
                              std::holds_alternative<TargetRoot>(graph[edge.from].subject);
    return is_asked_for || (edge.from != node && object(graph[edge.from]) != nullptr);
  });
}

std::vector<NodeId> orphans_of(const Trace& trace,
                               const Summary& summary,
                               std::span<const NodeId> libraries) {
  std::vector<NodeId> found;
  for (const NodeId library : libraries) {
    const bool is_loader = object(trace.graph[library])->role == ObjectFile::Role::loader;
    if (!is_loader && summary.sources[index(library)].empty() &&
        !has_parent(trace.graph, library)) {
      found.push_back(library);
    }
  }
  std::vector<Ranked> rows = ranked(trace, summary, found);
  std::stable_sort(rows.begin(), rows.end(), is_larger);
  std::vector<NodeId> orphans;
  for (const Ranked& row : rows) {
    orphans.push_back(row.node);
  }
  return orphans;
}

Notice owners_left_out(std::size_t count) {
  return {"owners-cut",
          "more than " + std::to_string(most_owned / 1'000'000) +
              " million pairs of library and source: the last " + std::to_string(count) +
              " sources by name were not walked through",
          "they own nothing in this answer; their libraries belong to the others, or to nobody",
          ""};
}

}  // namespace

Summary summarize(const Trace& trace, ByteKind by) {
  Summary summary;
  summary.by = by;
  summary.ids = unique_ids(trace.graph);
  summary.cycle = closing_edges(trace.graph);
  std::size_t left_out = 0;
  summary.sources = attribute(trace.graph, most_owned, &left_out);
  if (left_out > 0) {
    summary.notices.push_back(owners_left_out(left_out));
  }
  count_degrees(trace.graph, summary);
  const std::vector<NodeId> libraries = counted_libraries(trace);
  summary.totals = totals_of(trace, libraries);
  summary.packages = packages_of(trace.graph, libraries, summary.sources, by);
  summary.libraries = depended_on(trace, summary, libraries);
  summary.orphans = orphans_of(trace, summary, libraries);
  summary.import_costs = import_costs(trace);
  summary.refusals = refusals(trace);
  summary.uses = called_libraries(trace, summary.sources);
  Notable told = notable(trace, summary);
  summary.notable = std::move(told.sentences);
  summary.more_findings = told.more_findings;
  return summary;
}

}  // namespace tracso
