// py:numpy.linalg instead of py:numpy.linalg._umath_linalg: one node for all modules whose names
// begin alike.

#include "tracso/analysis.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>

namespace tracso {
namespace {

/// The first `depth` components of a dotted name.
std::string cut_name(const std::string& name, std::size_t depth) {
  std::size_t end = 0;
  for (std::size_t count = 0; count < depth && end != std::string::npos; ++count) {
    end = name.find('.', count == 0 ? 0 : end + 1);
  }
  return name.substr(0, end);
}

/// The graph again with fewer nodes, and where each of the old ones went.
class Regrouping {
 public:
  Regrouping(const Graph& graph, std::size_t depth) : depth_(depth) {
    for (const Node& node : graph.nodes()) {
      moved_.push_back(add(node));
    }
    for (const auto& [name, node] : groups_) {
      source(node).distribution = joined(distributions_[node]);
      std::sort(source(node).modules.begin(), source(node).modules.end());
    }
    for (const Edge& edge : graph.edges()) {
      connect(edge);
    }
  }

  NodeId moved(NodeId old) const { return index(old) < moved_.size() ? moved_[index(old)] : old; }

  Graph take() { return std::move(made_); }

  /// "py:numpy.linalg._umath_linalg" -> "py:numpy.linalg"; other names stay.
  std::string renamed(const std::string& name) const {
    const auto known = renamed_.find(name);
    return known != renamed_.end() ? known->second : name;
  }

 private:
  NodeId add(const Node& node) {
    const auto* python = std::get_if<PythonSource>(&node.subject);
    if (python == nullptr) {
      return copy(node);
    }
    const std::string name = cut_name(python->name, depth_);
    renamed_.emplace("py:" + python->name, "py:" + name);
    const auto [known, is_new] = groups_.try_emplace(name);
    if (is_new) {
      known->second = copy(node);
      source(known->second).name = name;
    } else {
      std::vector<std::string>& modules = source(known->second).modules;
      modules.insert(modules.end(), python->modules.begin(), python->modules.end());
    }
    if (!python->distribution.empty()) {
      distributions_[known->second].insert(python->distribution);
    }
    return known->second;
  }

  NodeId copy(const Node& node) {
    const NodeId id = made_.add(node.subject);
    made_.mutable_node(id).cost = node.cost;
    return id;
  }

  void connect(Edge edge) {
    const bool was_loop = edge.from == edge.to;
    edge.from = moved(edge.from);
    edge.to = moved(edge.to);
    if (edge.from != edge.to || was_loop) {  // within one group nothing causes anything
      made_.connect(std::move(edge));
    }
  }

  PythonSource& source(NodeId id) { return std::get<PythonSource>(made_.mutable_node(id).subject); }

  static std::string joined(const std::set<std::string>& distributions) {
    std::string text;
    for (const std::string& distribution : distributions) {
      text += (text.empty() ? "" : ", ") + distribution;
    }
    return text;
  }

  std::size_t depth_;
  Graph made_;
  std::vector<NodeId> moved_;
  std::unordered_map<std::string, NodeId> groups_;
  std::unordered_map<std::string, std::string> renamed_;
  std::map<NodeId, std::set<std::string>> distributions_;
};

void move_load(Load& load, const Regrouping& regrouping) {
  load.object = regrouping.moved(load.object);
  if (load.cause) {
    load.cause = regrouping.moved(*load.cause);
  }
}

/// In the old order, each once.
template <class T>
void keep_first_of_equals(std::vector<T>& values) {
  std::set<T> seen;
  std::erase_if(values, [&](const T& value) { return !seen.insert(value).second; });
}

void move_finding(Finding& finding, const Regrouping& regrouping) {
  for (NodeId& node : finding.nodes) {
    node = regrouping.moved(node);
  }
  for (std::string& owner : finding.owners) {
    owner = regrouping.renamed(owner);
  }
  keep_first_of_equals(finding.nodes);
  keep_first_of_equals(finding.owners);
}

}  // namespace

Trace group_modules(const Trace& trace, std::size_t depth) {
  const bool is_finer = depth == 0 || (trace.name_depth != 0 && depth >= trace.name_depth);
  Trace result = trace;
  if (is_finer) {
    return result;
  }
  Regrouping regrouping(trace.graph, depth);
  for (Load& load : result.loads) {
    move_load(load, regrouping);
  }
  for (FailedLoad& failed : result.failed_loads) {
    failed.cause = failed.cause ? std::optional(regrouping.moved(*failed.cause)) : std::nullopt;
  }
  if (result.calls) {
    for (CountedCalls& pair : result.calls->pairs) {
      pair.caller = regrouping.moved(pair.caller);
      pair.callee = regrouping.moved(pair.callee);
    }
  }
  for (Finding& finding : result.findings) {
    move_finding(finding, regrouping);
  }
  result.graph = regrouping.take();
  result.name_depth = depth;
  return result;
}

}  // namespace tracso
