// Drawn from left to right: the target and the sources, their files, what those need. In a crowded
// picture (over 60 nodes) the edges to what nearly everything needs would hide all others: they
// become a mark in the label ("· libc libm"), those libraries stand apart, and what then has no
// edge to anything else is laid out in blocks.

#include "base/sizes.hpp"
#include "base/text.hpp"
#include "render/beginnings.hpp"
#include "render/dot_look.hpp"
#include "render/forms.hpp"
#include "render/text/columns.hpp"
#include "render/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <span>

namespace tracso {
namespace {

constexpr std::size_t crowded = 60;
constexpr std::size_t node_columns = 48;

class Picture {
 public:
  Picture(const RenderOptions& options, const Trace& trace, const Summary& summary)
      : options_(options),
        trace_(trace),
        summary_(summary),
        nodes_(trace.graph.nodes().size(), false),
        edges_(trace.graph.edges().size(), false) {}

  /// All that stands at most options.depth edges from a beginning.
  void take_all();
  void take(const std::vector<EdgeId>& chain);

  void take(NodeId node) { nodes_[index(node)] = true; }

  std::string text();

 private:
  bool folds(EdgeId id) const;
  bool stands_apart(NodeId id) const;
  std::string label(NodeId id) const;
  void head();

  // A node alone, or a module and its file.
  struct ShortRow {
    NodeId first, last;
  };

  std::size_t drawn(std::span<const EdgeId> edges) const;
  std::optional<NodeId> end_of_short_row(NodeId id) const;
  void group(std::string_view name,
             std::string_view title,
             const std::vector<ShortRow>& rows,
             std::size_t side_by_side);
  void nodes();
  void node(NodeId id, std::string_view indent);
  void edges();
  void legend();

  static NodeId node_id(std::size_t at) { return NodeId{static_cast<std::uint32_t>(at)}; }

  static EdgeId edge_id(std::size_t at) { return EdgeId{static_cast<std::uint32_t>(at)}; }

  const RenderOptions& options_;
  const Trace& trace_;
  const Summary& summary_;
  std::vector<bool> nodes_, edges_;  // drawn
  bool crowded_ = false;
  std::size_t beyond_ = 0;  // nodes left out by the depth
  std::map<std::string_view, std::string_view> node_kinds_, edge_kinds_;  // drawn; for the legend
  std::string out_;
};

void Picture::take_all() {
  const Graph& graph = trace_.graph;
  std::vector<NodeId> front;
  const auto reach = [&](NodeId id) {
    if (!nodes_[index(id)]) {
      take(id);
      front.push_back(id);
    }
  };
  for (const NodeId beginning : beginnings(graph)) {
    reach(beginning);
  }
  const std::size_t depth = options_.depth == 0 ? nodes_.size() : options_.depth;
  for (std::size_t step = 0; step < depth && !front.empty(); ++step) {
    std::vector<NodeId> last;
    last.swap(front);
    for (const NodeId id : last) {
      for (const EdgeId edge : graph.effects_of(id)) {
        reach(graph[edge].to);
      }
    }
  }
  for (std::size_t i = 0; i < edges_.size(); ++i) {
    const Edge& edge = graph[edge_id(i)];
    edges_[i] = nodes_[index(edge.from)] && nodes_[index(edge.to)];
  }
  beyond_ = static_cast<std::size_t>(std::count(nodes_.begin(), nodes_.end(), false));
}

void Picture::take(const std::vector<EdgeId>& chain) {
  for (const EdgeId id : chain) {
    edges_[index(id)] = true;
    take(trace_.graph[id].from);
    take(trace_.graph[id].to);
  }
}

bool Picture::stands_apart(NodeId id) const {
  const Node& node = trace_.graph[id];
  return crowded_ && is_counted(node) && !common_library(display_name(node)).empty();
}

bool Picture::folds(EdgeId id) const {
  return stands_apart(trace_.graph[id].to);
}

std::string Picture::label(NodeId id) const {
  const Node& node = trace_.graph[id];
  std::vector<std::string> lines{cut_middle(shown_name(node), node_columns, options_.unicode)};
  std::string second = is_missing(node) ? "not found" : shown_size(node);
  std::vector<std::string> folded;
  for (const EdgeId edge : trace_.graph.effects_of(id)) {
    if (edges_[index(edge)] && folds(edge)) {
      folded.emplace_back(common_library(display_name(trace_.graph[trace_.graph[edge].to])));
    }
  }
  if (!folded.empty()) {
    std::sort(folded.begin(), folded.end());
    folded.erase(std::unique(folded.begin(), folded.end()), folded.end());
    second += fmt::format(
        "{}{} {}", second.empty() ? "" : " ", glyphs(options_.unicode).dot, join(folded, " "));
  }
  if (!second.empty()) {
    lines.push_back(std::move(second));
  }
  return dot_label(lines);
}

void Picture::head() {
  const std::string_view dot = glyphs(options_.unicode).dot;
  std::string title = fmt::format("{0} {1} {2} {1} {3}",
                                  trace_.target,
                                  dot,
                                  counted(summary_.totals.libraries, "lib"),
                                  size_text(summary_.totals.file));
  title += beyond_ == 0 ? "" : fmt::format(" {} {} beyond --depth", dot, counted(beyond_, "node"));
  out_ += fmt::format("digraph {} {{\n", dot_string(trace_.target));
  out_ += fmt::format("  label={};\n", dot_string(title));
  out_ += "  labelloc=t; rankdir=LR; fontname=\"Helvetica\"; fontsize=16;\n";
  // What keeps a graph of hundreds of nodes within seconds: fewer rounds, straight pieces.
  out_ += crowded_ ? "  ranksep=1.4; nodesep=0.12; splines=polyline; mclimit=0.5; nslimit=3;\n"
                   : "  ranksep=0.7; nodesep=0.2;\n";
  out_ += "  node [fontname=\"Helvetica\", fontsize=10, margin=\"0.08,0.03\", height=0.3];\n";
  out_ += "  edge [arrowsize=0.6];\n";
}

void Picture::node(NodeId id, std::string_view indent) {
  const Node& node = trace_.graph[id];
  const DotLook look = node_look(node);
  node_kinds_.emplace(look.name, look.attributes);
  const std::string_view path = path_of(node);
  out_ += fmt::format("{}n{} [label={},tooltip={},{}];\n",
                      indent,
                      index(id),
                      label(id),
                      dot_string(path.empty() ? display_name(node) : path),
                      look.attributes);
}

std::size_t Picture::drawn(std::span<const EdgeId> edges) const {
  return static_cast<std::size_t>(std::count_if(
      edges.begin(), edges.end(), [&](EdgeId id) { return edges_[index(id)] && !folds(id); }));
}

// The file, where the node is a module whose one file nothing else leads to and that leads nowhere;
// the node itself where no edge is drawn at it; else nullopt.
std::optional<NodeId> Picture::end_of_short_row(NodeId id) const {
  const Graph& graph = trace_.graph;
  const auto effects = graph.effects_of(id);
  if (!crowded_ || drawn(graph.causes_of(id)) > 0 || drawn(effects) > 1) {
    return std::nullopt;
  }
  if (drawn(effects) == 0) {
    return id;
  }
  const auto only = std::find_if(effects.begin(), effects.end(), [&](EdgeId edge) {
    return edges_[index(edge)] && !folds(edge);
  });
  const NodeId file = graph[*only].to;
  const bool ends = drawn(graph.causes_of(file)) == 1 && drawn(graph.effects_of(file)) == 0;
  return is_source(graph[id]) && ends ? std::optional(file) : std::nullopt;
}

// Rows one behind the other, tied by edges that are not drawn: a picture of hundreds of modules
// would be a ribbon otherwise.
void Picture::group(std::string_view name,
                    std::string_view title,
                    const std::vector<ShortRow>& rows,
                    std::size_t side_by_side) {
  if (rows.empty()) {
    return;
  }
  out_ += fmt::format("  subgraph cluster_{} {{\n", name);
  out_ += fmt::format("    label=\"{}\"; fontsize=10; style=rounded; color=\"#a1a1aa\";\n", title);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    node(rows[i].first, "    ");
    if (rows[i].last != rows[i].first) {
      node(rows[i].last, "    ");
    }
    if (i % side_by_side != 0) {
      out_ += fmt::format(
          "    n{} -> n{} [style=invis];\n", index(rows[i - 1].last), index(rows[i].first));
    }
  }
  out_ += "  }\n";
}

void Picture::nodes() {
  std::vector<ShortRow> common;
  std::vector<ShortRow> alone;
  std::vector<ShortRow> pairs;
  std::vector<bool> grouped(nodes_.size(), false);
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const NodeId id = node_id(i);
    const auto end = nodes_[i] ? end_of_short_row(id) : std::nullopt;
    if (nodes_[i] && stands_apart(id)) {
      common.push_back({id, id});
      grouped[i] = true;
    } else if (end) {
      (*end == id ? alone : pairs).push_back({id, *end});
      grouped[i] = true;
      grouped[index(*end)] = true;
    }
  }
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i] && !grouped[i]) {
      node(node_id(i), "  ");
    }
  }
  group("common", "needed nearly everywhere: marked in the labels", common, 5);
  group("alone", "what nothing else here needs, and that needs nothing else", alone, 5);
  group("pairs", "modules that need nothing else", pairs, 3);
}

void Picture::edges() {
  for (std::size_t i = 0; i < edges_.size(); ++i) {
    const EdgeId id = edge_id(i);
    if (!edges_[i] || folds(id)) {
      continue;
    }
    const Edge& edge = trace_.graph[id];
    const DotLook look = edge_look(trace_.graph, summary_, id);
    edge_kinds_.emplace(look.name, look.attributes);
    const std::string rule = rule_phrase(edge);
    out_ += fmt::format("  n{} -> n{} [tooltip={},{}];\n",
                        index(edge.from),
                        index(edge.to),
                        dot_string(std::string(look.name) + (rule.empty() ? "" : ": " + rule)),
                        look.attributes);
  }
}

// Only the kinds that the picture holds.
void Picture::legend() {
  out_ +=
      "  subgraph cluster_legend {\n"
      "    label=\"legend\"; fontsize=10; style=rounded; color=\"#a1a1aa\";\n";
  std::size_t number = 0;
  for (const auto& [name, attributes] : node_kinds_) {
    out_ += fmt::format("    k{} [label={},{}];\n", number++, dot_string(name), attributes);
  }
  for (const auto& [name, attributes] : edge_kinds_) {
    out_ += fmt::format("    e{} [shape=point,width=0.05]; f{} [shape=plain,label={}];\n",
                        number,
                        number,
                        dot_string(name));
    out_ += fmt::format("    e{0} -> f{0} [{1}];\n", number, attributes);
    ++number;
  }
  out_ += "  }\n";
}

std::string Picture::text() {
  crowded_ = static_cast<std::size_t>(std::count(nodes_.begin(), nodes_.end(), true)) > crowded;
  head();
  nodes();
  edges();
  legend();
  return std::move(out_) + "}\n";
}

}  // namespace

Result<std::string> DotRenderer::trace(const Trace& trace, const Summary& summary) const {
  Picture picture(options_, trace, summary);
  picture.take_all();
  return picture.text();
}

Result<std::string> DotRenderer::why(const Trace& trace,
                                     const Summary& summary,
                                     const WhyAnswer& answer) const {
  Picture picture(options_, trace, summary);
  for (const WhyMatch& match : answer.matches) {
    picture.take(match.node);
    for (const auto& chain : match.chains) {
      picture.take(chain);
    }
  }
  return picture.text();
}

}  // namespace tracso
