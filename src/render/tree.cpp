// Depth first, with everything below one root: what the target's label leads to, then the sources,
// then what nothing leads to. What a node needs is drawn where the node comes first; later it ends
// with an ellipsis, and with a star where it stands above itself. So every edge is one line, and a
// graph of any shape ends. The walk keeps its own stack: the depth of a hostile document must not
// be that of ours.

#include "base/text.hpp"
#include "render/beginnings.hpp"
#include "render/forms.hpp"
#include "render/load_order.hpp"
#include "render/text/columns.hpp"
#include "render/unreached.hpp"
#include "render/why_text.hpp"
#include "render/words.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tracso {
namespace {

// The rule, where it says more than the tree does: how a file was searched for.
std::string how(const Edge& edge) {
  const bool plain = edge.kind == EdgeKind::origin || edge.kind == EdgeKind::interpreter;
  if (edge.rule == Rule::already_loaded || (plain && edge.rule == Rule::direct)) {
    return "";
  }
  const std::string rule = rule_phrase(edge);
  if (!rule.empty()) {
    return "  " + rule;
  }
  return edge.kind == EdgeKind::dlopen ? "  dlopen" : "";
}

class Tree {
 public:
  Tree(const RenderOptions& options, const Trace& trace, const Summary& summary)
      : options_(options),
        names_(trace, summary),
        depth_(options.depth == 0 ? deepest_drawn : std::min(options.depth, deepest_drawn)),
        trace_(trace),
        drawn_(trace.graph.nodes().size(), false),
        open_(trace.graph.nodes().size(), false) {}

  std::string text();

 private:
  struct Branch {
    NodeId node;
    const Edge* edge;  // null: nothing leads to the node
  };

  // A node whose branches are being drawn.
  struct Frame {
    NodeId node;
    std::vector<Branch> branches;
    std::size_t next = 0;
    std::string prefix;
  };

  std::vector<Branch> branches(NodeId node) const;
  void step();
  void line(const std::string& prefix, const Branch& branch, bool last, bool enters);
  Line described(const Branch& branch) const;
  std::string_view mark(NodeId node) const;

  const RenderOptions& options_;
  DistinctNames names_;
  std::size_t depth_;
  const Trace& trace_;
  std::vector<bool> drawn_;  // all that it leads to stands in the tree
  std::vector<bool> open_;   // it stands above the current line
  std::vector<Frame> stack_;
  std::string out_;
};

std::string Tree::text() {
  const std::vector<NodeId> all = beginnings(trace_.graph);
  if (!all.empty()) {
    const NodeId root = all.front();
    out_ += described({root, nullptr}).paint(options_.color) + "\n";
    std::vector<Branch> below = branches(root);
    for (std::size_t i = 1; i < all.size(); ++i) {
      below.push_back({all[i], nullptr});
    }
    drawn_[index(root)] = true;
    open_[index(root)] = true;
    stack_.push_back({root, std::move(below), 0, ""});
  }
  while (!stack_.empty()) {
    step();
  }
  return std::move(out_);
}

// What a program names as its interpreter and needs as well (musl: its C library is its loader) is
// one object, and one line.
std::vector<Tree::Branch> Tree::branches(NodeId node) const {
  const auto edges = trace_.graph.effects_of(node);
  std::vector<Branch> out;
  for (const EdgeId id : edges) {
    const Edge& edge = trace_.graph[id];
    const bool told_below =
        edge.kind == EdgeKind::interpreter &&
        std::any_of(edges.begin(), edges.end(), [&](EdgeId other) {
          return trace_.graph[other].to == edge.to && trace_.graph[other].kind == EdgeKind::needed;
        });
    if (!told_below) {
      out.push_back({edge.to, &edge});
    }
  }
  return out;
}

Line Tree::described(const Branch& branch) const {
  const Node& node = trace_.graph[branch.node];
  const ObjectFile* file = object(node);
  Line line;
  line.add(names_(branch.node), is_source(node) ? Style::cyan : Style::plain);
  if (is_missing(node)) {
    line.add("  (not found)", Style::red);
  }
  if (const std::string size = shown_size(node); !size.empty()) {
    line.add("  " + size);
  }
  if (const auto* python = std::get_if<PythonSource>(&node.subject);
      python != nullptr && !python->distribution.empty()) {
    line.add(fmt::format("  ({})", printable(python->distribution)), Style::dim);
  }
  if (file != nullptr && file->baseline && file->role != ObjectFile::Role::executable) {
    line.add("  [baseline]", Style::dim);
  }
  if (file != nullptr) {
    line.add(state_mark(file->state), Style::yellow);
    if (is_unreached(node)) {
      line.add("  (not reached)", Style::yellow);
    } else if (is_gone(trace_, node)) {
      line.add("  (not loaded any more)", Style::yellow);
    }
  }
  if (branch.edge != nullptr) {
    line.add(how(*branch.edge), Style::dim);
  }
  return line;
}

void Tree::step() {
  Frame& frame = stack_.back();
  if (frame.next == frame.branches.size()) {
    open_[index(frame.node)] = false;
    stack_.pop_back();
    return;
  }
  const Branch branch = frame.branches[frame.next++];
  const bool last = frame.next == frame.branches.size();
  const std::size_t at = index(branch.node);
  const bool leaf = trace_.graph.effects_of(branch.node).empty();
  const bool enters = !drawn_[at] && !leaf && stack_.size() < depth_;
  line(frame.prefix, branch, last, enters);
  drawn_[at] = drawn_[at] || leaf || enters;
  if (enters) {
    const Glyphs& glyph = glyphs(options_.unicode);
    std::string prefix = frame.prefix + std::string(last ? glyph.gap : glyph.trunk);
    open_[at] = true;
    stack_.push_back({branch.node, branches(branch.node), 0, std::move(prefix)});
  }
}

std::string_view Tree::mark(NodeId node) const {
  if (open_[index(node)]) {
    return "*";
  }
  return drawn_[index(node)] ? glyphs(options_.unicode).ellipsis : "";
}

void Tree::line(const std::string& prefix, const Branch& branch, bool last, bool enters) {
  const Glyphs& glyph = glyphs(options_.unicode);
  Line text = described(branch);
  const std::size_t below = trace_.graph.effects_of(branch.node).size();
  if (const std::string_view seen = mark(branch.node); !seen.empty()) {
    text.add(" ").add(seen);
  } else if (!enters && below > 0) {
    text.add(fmt::format("  [+{} below: --depth]", below), Style::dim);
  }
  const std::string lead = prefix + std::string(last ? glyph.corner : glyph.tee);
  if (options_.width != 0) {
    constexpr std::size_t least = 12;  // of a name, however deep it stands
    const std::size_t taken = display_width(lead);
    text.cut(std::max(options_.width > taken ? options_.width - taken : 0, least),
             options_.unicode);
  }
  out_ += paint(options_.color, Style::dim, lead) + text.paint(options_.color) + "\n";
}

}  // namespace

Result<std::string> TreeRenderer::trace(const Trace& trace, const Summary& summary) const {
  return Tree(options_, trace, summary).text() + load_sections(options_, trace, summary);
}

Result<std::string> TreeRenderer::why(const Trace& trace,
                                      const Summary& /*summary*/,
                                      const WhyAnswer& answer) const {
  return why_text(options_, trace, answer);
}

}  // namespace tracso
