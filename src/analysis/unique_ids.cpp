#include "analysis/unique_ids.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>

namespace tracso {
namespace {

/// A path from its end, to be compared with its neighbours: {"_core.so", "alpha", "site", ""}.
struct Tail {
  std::size_t node = 0;
  std::string path;
  std::vector<std::string_view> parts;
};

std::size_t common(const Tail& one, const Tail& other) {
  const auto [end, ignored] =
      std::mismatch(one.parts.begin(), one.parts.end(), other.parts.begin(), other.parts.end());
  return static_cast<std::size_t>(end - one.parts.begin());
}

/// The last `count` parts as they stand in the path; all of it where it has no more.
std::string_view piece(const Tail& tail, std::size_t count) {
  if (count >= tail.parts.size()) {
    return tail.path;
  }
  return std::string_view(tail.path).substr(
      static_cast<std::size_t>(tail.parts[count - 1].data() - tail.path.data()));
}

class Namer {
 public:
  explicit Namer(const Graph& graph) : graph_(graph), ids_(graph.nodes().size()) {}

  std::vector<std::string> run() {
    std::map<std::string, std::vector<std::size_t>> groups;
    for (std::size_t i = 0; i < graph_.nodes().size(); ++i) {
      groups[to_utf8(display_name(graph_.nodes()[i]))].push_back(i);
    }
    // Bare names first: no made-up id may take the name that another node really has.
    for (const auto& [name, nodes] : groups) {
      name_bare(name, nodes);
    }
    for (const auto& [name, nodes] : groups) {
      name_rest(name, nodes);
    }
    return std::move(ids_);
  }

 private:
  bool has_id(std::size_t node) const { return named_.contains(node); }

  void give(std::size_t node, std::string id) {
    std::string candidate = id;
    // The counter is kept per id, so a thousand equal nodes do not try a million numbers.
    while (!taken_.insert(candidate).second) {
      candidate = id + " #" + std::to_string(std::max<std::size_t>(2, ++tries_[id]));
    }
    ids_[node] = std::move(candidate);
    named_.insert(node);
  }

  void name_bare(const std::string& name, const std::vector<std::size_t>& nodes) {
    std::size_t with_path = 0;
    for (const std::size_t node : nodes) {
      if (object(graph_.nodes()[node]) == nullptr && !taken_.contains(name)) {
        give(node, name);
      }
      with_path += path_of(node).empty() ? 0U : 1U;
    }
    for (const std::size_t node : nodes) {
      const bool alone = nodes.size() == 1 || (with_path == 1 && !path_of(node).empty());
      if (alone && !has_id(node) && !taken_.contains(name)) {
        give(node, name);
      }
    }
  }

  void name_rest(const std::string& name, const std::vector<std::size_t>& nodes) {
    std::vector<Tail> tails;
    for (const std::size_t node : nodes) {
      if (has_id(node)) {
        continue;
      }
      if (!path_of(node).empty()) {
        tails.push_back(tail_of(node));
      } else {
        give(node, object(graph_.nodes()[node]) != nullptr ? name + " (missing)" : name);
      }
    }
    const std::vector<std::size_t> counts = distinguishing(tails);
    for (std::size_t i = 0; i < tails.size(); ++i) {
      // "libz.so (libz.so)" tells nothing.
      const bool says_nothing = piece(tails[i], counts[i]) == name;
      const std::string_view tells = piece(tails[i], counts[i] + (says_nothing ? 1 : 0));
      give(tails[i].node, name + " (" + std::string(tells) + ")");
    }
  }

  std::string_view path_of(std::size_t node) const {
    const ObjectFile* file = object(graph_.nodes()[node]);
    return file != nullptr ? std::string_view(file->path.text) : std::string_view();
  }

  /// The path with the base name as display_name shows it: without an ABI tag.
  Tail tail_of(std::size_t node) const {
    Tail tail{.node = node, .path = to_utf8(path_of(node)), .parts = {}};
    Node plain{.subject = ObjectFile{}, .cost = {}};
    std::get<ObjectFile>(plain.subject).path.text = tail.path;
    tail.path.erase(tail.path.size() - base_name(tail.path).size());
    tail.path += display_name(plain);
    return tail;
  }

  /// How many parts of each tell it from all others: sorted by their parts from the end, the path
  /// most like one is its neighbour.
  static std::vector<std::size_t> distinguishing(std::vector<Tail>& tails) {
    std::vector<std::size_t> order;
    for (Tail& tail : tails) {
      tail.parts = split(tail.path, '/');
      std::reverse(tail.parts.begin(), tail.parts.end());
      order.push_back(order.size());
    }
    std::sort(order.begin(), order.end(), [&](std::size_t one, std::size_t other) {
      return tails[one].parts < tails[other].parts;
    });
    std::vector<std::size_t> counts(tails.size(), 1);
    for (std::size_t i = 1; i < order.size(); ++i) {
      const std::size_t shared = common(tails[order[i - 1]], tails[order[i]]) + 1;
      counts[order[i - 1]] = std::max(counts[order[i - 1]], shared);
      counts[order[i]] = std::max(counts[order[i]], shared);
    }
    return counts;
  }

  const Graph& graph_;
  std::vector<std::string> ids_;
  std::unordered_set<std::size_t> named_;
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, std::size_t> tries_;
};

}  // namespace

std::vector<std::string> unique_ids(const Graph& graph) {
  return Namer(graph).run();
}

}  // namespace tracso
