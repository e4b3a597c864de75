// Why is it here? Finds what the question names, and answers for each: the chains, the file that
// won and those that lost.

#include "tracso/analysis.hpp"

#include "analysis/chains.hpp"
#include "analysis/why_each.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <variant>

namespace tracso {
namespace {

constexpr std::size_t most_suggestions = 3;

/// All that a node can be called by.
std::vector<std::string> names_of(const Node& node) {
  std::vector<std::string> names{display_name(node)};
  if (const ObjectFile* file = object(node)) {
    names.push_back(file->elf.dynamic.soname.value_or(""));
    names.emplace_back(base_name(file->path.text));
    names.push_back(file->wanted);
  }
  return names;
}

bool can_be_asked_for(const Node& node) {
  return object(node) != nullptr || std::holds_alternative<Vdso>(node.subject);
}

class Matcher {
 public:
  Matcher(const Trace& trace, const Summary& summary, std::string_view query)
      : graph_(trace.graph), summary_(summary), query_(query) {}

  /// From the exact to the vague: the first way that names anything is the answer.
  std::vector<NodeId> run() const {
    if (query_.empty()) {
      return {};
    }
    using Way = bool (Matcher::*)(NodeId) const;
    for (const Way way : {&Matcher::is_path_or_id,
                          &Matcher::is_found_as,
                          &Matcher::ends_with_path,
                          &Matcher::is_name,
                          &Matcher::begins_name}) {
      std::vector<NodeId> matches = all(way);
      if (!matches.empty()) {
        return sorted(std::move(matches));
      }
    }
    return {};
  }

 private:
  std::vector<NodeId> all(bool (Matcher::*way)(NodeId) const) const {
    std::vector<NodeId> matches;
    for (std::size_t i = 0; i < graph_.nodes().size(); ++i) {
      const auto node = static_cast<NodeId>(i);
      if (can_be_asked_for(graph_[node]) && (this->*way)(node)) {
        matches.push_back(node);
      }
    }
    return matches;
  }

  bool is_path_or_id(NodeId node) const {
    const ObjectFile* file = object(graph_[node]);
    const std::string& id = summary_.ids[index(node)];
    return (file != nullptr && file->path.text == query_) ||
           (id == query_ && id != display_name(graph_[node]));
  }

  /// The loader opened it by this path, which the kernel shows with its links followed.
  bool is_found_as(NodeId node) const {
    if (!has_slash()) {
      return false;
    }
    const auto causes = graph_.causes_of(node);
    return std::any_of(causes.begin(), causes.end(), [&](EdgeId id) {
      const auto& search = graph_[id].search;
      return std::any_of(search.begin(), search.end(), [&](const SearchStep& step) {
        return step.outcome == SearchStep::Outcome::found && step.path == query_;
      });
    });
  }

  /// "alpha/_core.so"; and "/lib/x.so" where /lib is a link to /usr/lib.
  bool ends_with_path(NodeId node) const {
    const ObjectFile* file = object(graph_[node]);
    const std::string tail = query_.front() == '/' ? query_ : "/" + query_;
    return has_slash() && file != nullptr && file->path.text.ends_with(tail);
  }

  bool is_name(NodeId node) const {
    const std::vector<std::string> names = names_of(graph_[node]);
    return std::find(names.begin(), names.end(), query_) != names.end();
  }

  bool begins_name(NodeId node) const {
    const std::vector<std::string> names = names_of(graph_[node]);
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return name.starts_with(query_);
    });
  }

  bool has_slash() const { return query_.find('/') != std::string::npos; }

  /// By name; of a prefix first where it is the whole stem: libc.so.6 before libcrypto.so.3.
  std::vector<NodeId> sorted(std::vector<NodeId> matches) const {
    std::vector<std::tuple<bool, std::string, NodeId>> ranked;
    for (const NodeId match : matches) {
      const std::string& id = summary_.ids[index(match)];
      const bool is_stem = id == query_ || id.starts_with(query_ + ".");
      ranked.emplace_back(!is_stem, id, match);
    }
    std::sort(ranked.begin(), ranked.end());
    std::transform(ranked.begin(), ranked.end(), matches.begin(), [](const auto& rank) {
      return std::get<NodeId>(rank);
    });
    return matches;
  }

  const Graph& graph_;
  const Summary& summary_;
  std::string query_;
};

std::string stem(std::string_view name) {
  return std::string(name.substr(0, name.find(".so")));
}

/// Compared without ".so.3": who mistypes the name seldom has the version either.
std::vector<std::string> suggestions(const Graph& graph, std::string_view query) {
  std::map<std::string, std::set<std::string>> by_stem;
  for (const Node& node : graph.nodes()) {
    if (can_be_asked_for(node)) {
      const std::string name = display_name(node);
      by_stem[stem(name)].insert(name);
    }
  }
  std::vector<std::string> stems;
  for (const auto& [candidate, names] : by_stem) {
    stems.push_back(candidate);
  }
  std::vector<std::string> result;
  for (const std::string& close : did_you_mean(stem(base_name(query)), stems, most_suggestions)) {
    for (const std::string& name : by_stem[close]) {
      if (result.size() < most_suggestions) {
        result.push_back(name);
      }
    }
  }
  return result;
}

/// The edge whose search chose the file: the first cause, else any that has one.
const Edge* deciding_edge(const Graph& graph, NodeId node) {
  const Edge* best = nullptr;
  for (const EdgeId id : graph.causes_of(node)) {
    const Edge& edge = graph[id];
    if (edge.first) {
      return &edge;
    }
    if (best == nullptr || (best->search.empty() && !edge.search.empty())) {
      best = &edge;
    }
  }
  return best;
}

std::string place_of(const SearchStep& step) {
  if (!step.setting.empty()) {
    return step.setting;
  }
  switch (step.place) {
    case Rule::env:
      return "LD_LIBRARY_PATH";
    case Rule::rpath:
      return "RPATH";
    case Rule::runpath:
      return "RUNPATH";
    case Rule::cache:
      return "ld.so.cache";
    case Rule::preload:
      return "preload";
    case Rule::already_loaded:
      return "already loaded";
    case Rule::none:
    case Rule::direct:
    case Rule::default_dir:
    case Rule::reserved:
      break;
  }
  return step.directory;
}

std::string reason_of(const SearchStep& step) {
  if (!step.note.empty()) {
    return step.note;
  }
  switch (step.outcome) {
    case SearchStep::Outcome::wrong_class:
      return "built for another machine or class";
    case SearchStep::Outcome::denied:
      return "not readable";
    case SearchStep::Outcome::skipped:
      return "this place was not asked";
    case SearchStep::Outcome::fatal:
      return "the loader gives up on it";
    case SearchStep::Outcome::lost:
    case SearchStep::Outcome::found:
    case SearchStep::Outcome::absent:
      break;
  }
  return "an earlier place won";
}

std::vector<Loser> losers_of(const Edge& edge, std::string_view winner) {
  std::vector<Loser> losers;
  std::set<std::string_view> told;
  for (const SearchStep& step : edge.search) {
    const bool is_loser = step.outcome != SearchStep::Outcome::found &&
                          step.outcome != SearchStep::Outcome::absent && !step.path.empty();
    if (is_loser && step.path != winner && told.insert(step.path).second) {
      losers.push_back({.path = step.path, .place = place_of(step), .reason = reason_of(step)});
    }
  }
  return losers;
}

std::optional<std::string> restart_of(const Graph& graph, NodeId node, const Edge& deciding) {
  if (!deciding.restart_would_load.empty()) {
    return deciding.restart_would_load;
  }
  for (const EdgeId id : graph.causes_of(node)) {
    if (!graph[id].restart_would_load.empty()) {
      return graph[id].restart_would_load;
    }
  }
  return std::nullopt;
}

WhyMatch match_of(const Graph& graph,
                  NodeId node,
                  std::size_t depth,
                  const ChainFinder& finder,
                  ChainBudget& budget) {
  WhyMatch match;
  match.node = node;
  Chains chains = finder.find(node, depth, budget);
  match.chains = std::move(chains.chains);
  match.chains_cut = chains.cut;
  match.cut_from = chains.cut_from;
  match.steps_cut = chains.steps_cut;
  if (const ObjectFile* file = object(graph[node])) {
    match.winner = file->path.text;
  }
  if (const Edge* deciding = deciding_edge(graph, node)) {
    match.losers = losers_of(*deciding, match.winner);
    match.restart_would_load = restart_of(graph, node, *deciding);
  }
  return match;
}

}  // namespace

WhyAnswer explain_why(const Trace& trace,
                      const Summary& summary,
                      std::string_view query,
                      std::size_t depth) {
  WhyAnswer answer;
  answer.query = std::string(query);
  const ChainFinder finder(trace.graph);
  ChainBudget budget;
  for (const NodeId node : Matcher(trace, summary, query).run()) {
    answer.matches.push_back(match_of(trace.graph, node, depth, finder, budget));
  }
  if (answer.matches.empty()) {
    answer.did_you_mean = suggestions(trace.graph, query);
  }
  return answer;
}

WhyAnswer WhyEach::about(NodeId node, std::size_t depth) {
  WhyAnswer answer;
  answer.matches.push_back(match_of(trace_.graph, node, depth, finder_, budget_));
  return answer;
}

}  // namespace tracso
