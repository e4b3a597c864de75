#include "render/why_text.hpp"

#include "base/text.hpp"
#include "render/load_words.hpp"
#include "render/text/columns.hpp"
#include "render/why_words.hpp"
#include "render/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tracso {
namespace {

constexpr std::size_t hop_columns = 40;
constexpr std::size_t widest_setting = 56;

class WhyText {
 public:
  WhyText(const RenderOptions& options, const Trace& trace, const FirstLoads& loads)
      : options_(options), trace_(trace), loads_(loads) {}

  void match(const WhyMatch& match);

  std::string take() { return std::move(out_); }

 private:
  using Chains = std::vector<const std::vector<EdgeId>*>;

  void facts(const WhyMatch& match);
  void fact(std::string_view label, const std::string& text, Style style = Style::plain);
  void in_children(const std::string& path);
  void loaded(NodeId node);
  void chains(std::string_view title, const Chains& chains, bool cut);
  void chain(const std::vector<EdgeId>& chain);
  void cut_end();
  void root(const Node& node);
  void hop(std::size_t depth, const Edge& edge);
  void importers(const Edge& edge, std::size_t depth);
  void search(const Edge& edge);
  void losers(const std::vector<Loser>& losers);
  void title(const std::string& text);

  const Node& from(EdgeId id) const { return trace_.graph[trace_.graph[id].from]; }

  const RenderOptions& options_;
  const Trace& trace_;
  const FirstLoads& loads_;
  const WhyMatch* match_ = nullptr;  // the one being written
  std::string out_;
};

void WhyText::match(const WhyMatch& match) {
  match_ = &match;
  out_ += paint(options_.color, Style::bold, why_headline(trace_, match)) + "\n";
  facts(match);
  const auto cause = deciding_edge(trace_, match);
  Chains first;
  Chains others;
  for (const auto& chain : match.chains) {
    if (!chain.empty()) {
      const bool leads = cause && chain.back() == *cause;
      (leads ? first : others).push_back(&chain);
    }
  }
  const bool known = cause && trace_.graph[*cause].first;
  chains(known ? "First cause" : "How it came in", first, others.empty() && match.chains_cut);
  if (cause) {
    search(trace_.graph[*cause]);
  }
  losers(match.losers);
  chains(known ? "Also needed by" : "Other ways to it", others, match.chains_cut);
}

void WhyText::fact(std::string_view label, const std::string& text, Style style) {
  if (!text.empty()) {
    out_ += paint(options_.color, Style::dim, fmt::format("  {:<12} ", label));
    out_ += paint(options_.color, style, printable(text)) + "\n";
  }
}

void WhyText::facts(const WhyMatch& match) {
  const Node& node = trace_.graph[match.node];
  const ObjectFile* file = object(node);
  const std::string path(match.winner.empty() ? path_of(node) : match.winner);
  const std::string size = shown_size(node);
  if (!path.empty()) {
    fact(file != nullptr && file->loaded ? "loaded from" : "found",
         size.empty() ? path : fmt::format("{}  ({})", path, size));
  }
  if (file != nullptr) {
    fact("state", std::string(state_sentence(file->state)), Style::yellow);
    fact("note", file->note, Style::yellow);
  }
  const auto cause = deciding_edge(trace_, match);
  if (cause && trace_.graph[*cause].fragile) {
    fact("fragile",
         "alone it would not be found here: something loaded earlier saves it",
         Style::yellow);
  }
  if (match.restart_would_load && *match.restart_would_load != path) {
    fact("restart", "a restart would load " + *match.restart_would_load, Style::yellow);
  }
  in_children(path);
  loaded(match.node);
}

// With --children --run: whose it was, where the command itself had it not.
void WhyText::in_children(const std::string& path) {
  constexpr std::size_t most = 3;
  std::size_t found = 0;
  for (const ChildInfo& child : trace_.children) {
    if (std::find(child.beyond.begin(), child.beyond.end(), path) == child.beyond.end()) {
      continue;
    }
    if (++found <= most) {
      fact(found == 1 ? "in child" : "", fmt::format("{} {}", child.pid, child.command));
    }
  }
  if (found > most) {
    fact("", fmt::format("and {} more", found - most));
  }
}

// When it came and by which imports: only --run saw that.
void WhyText::loaded(NodeId node) {
  const Load* load = loads_.of(node);
  if (load == nullptr) {
    return;
  }
  std::string text = fmt::format(
      "at {:.3f} s, {}",
      static_cast<double>(load->time_ns) / ns_per_second,
      load->dlopen == 0 ? "with the program's start" : "in " + milliseconds(load->duration_ns));
  if (load->unloaded_ns) {
    text += fmt::format(", unloaded at {:.3f} s",
                        static_cast<double>(*load->unloaded_ns) / ns_per_second);
  }
  fact("came in", text);
  const std::string name = shown_name(trace_.graph[node]);
  std::string chain = import_chain_text(load->imports, options_.unicode);
  if (!chain.empty()) {
    // An extension module is the last step itself.
    const auto& last = load->imports.back().module;
    const auto causes = trace_.graph.causes_of(node);
    const bool is_module = std::any_of(causes.begin(), causes.end(), [&](EdgeId id) {
      return trace_.graph[id].kind == EdgeKind::origin && trace_.graph[id].detail == last;
    });
    chain += is_module ? "" : (options_.unicode ? " → " : " -> ") + name;
  }
  fact("imports", chain);
}

void WhyText::title(const std::string& text) {
  out_ += "\n  " + paint(options_.color, Style::bold, text) + "\n";
}

void WhyText::chains(std::string_view name, const Chains& chains, bool cut) {
  if (chains.empty()) {
    return;
  }
  title(std::string(name));
  const std::size_t limit = options_.limit_packages;
  const std::size_t shown = limit == 0 ? chains.size() : std::min(limit, chains.size());
  for (std::size_t i = 0; i < shown; ++i) {
    out_ += i == 0 ? "" : "\n";
    chain(*chains[i]);
  }
  if (shown < chains.size()) {
    out_ += fmt::format("    ... and {}{} more {}\n",
                        chains.size() - shown,
                        cut ? "+" : "",
                        chains.size() - shown == 1 && !cut ? "chain" : "chains");
  } else if (cut) {
    out_ += "    ... and longer chains: --depth\n";
  }
}

// Who stands at the head is the answer, however few of the steps from there are wanted.
void WhyText::cut_end() {
  root(trace_.graph[*match_->cut_from]);
  out_ += fmt::format("    ... {} to\n", counted(match_->steps_cut, "step"));
}

void WhyText::chain(const std::vector<EdgeId>& chain) {
  if (match_->cut_from) {
    cut_end();
  }
  root(from(chain.front()));
  const Edge& start = trace_.graph[chain.front()];
  importers(start, 0);
  for (std::size_t i = 0; i < chain.size(); ++i) {
    hop(i, trace_.graph[chain[i]]);
    if (i > 0) {
      importers(trace_.graph[chain[i]], i + 1);
    }
  }
}

void WhyText::root(const Node& node) {
  Line line;
  line.add("    ").add(shown_name(node));
  if (const auto* source = std::get_if<PythonSource>(&node.subject)) {
    if (!source->distribution.empty()) {
      line.add(fmt::format("  ({})", printable(source->distribution)), Style::dim);
    }
  } else if (const auto* environment = std::get_if<EnvironmentOrigin>(&node.subject)) {
    line.add("=" + printable(environment->text), Style::dim);
  }
  out_ += line.paint(options_.color) + "\n";
}

void WhyText::hop(std::size_t depth, const Edge& edge) {
  const Glyphs& drawn = glyphs(options_.unicode);
  const Node& node = trace_.graph[edge.to];
  Line line;
  line.add(std::string(4 + 3 * std::min(depth, deepest_drawn), ' '))
      .add(drawn.corner)
      .add(shown_name(node));
  const std::string how = hop_phrase(trace_.graph, edge);
  if (!how.empty()) {
    line.add(std::string(line.width() < hop_columns ? hop_columns - line.width() : 0, ' '));
    line.add("  " + how, Style::dim);
  }
  out_ += line.paint(options_.color) + "\n";
}

void WhyText::importers(const Edge& edge, std::size_t depth) {
  constexpr std::size_t most = 20;
  for (std::size_t i = 0; i < std::min(most, edge.importers.size()); ++i) {
    out_.append(6 + 3 * std::min(depth, deepest_drawn), ' ');
    out_ += paint(options_.color, Style::dim, importer_phrase(edge.importers[i]));
    out_ += '\n';
  }
}

std::string_view asked_by(EdgeKind kind) {
  if (kind == EdgeKind::preload || kind == EdgeKind::audit) {
    return "named by";
  }
  return kind == EdgeKind::dlopen ? "opened by" : "needed by";
}

void WhyText::search(const Edge& edge) {
  if (edge.search.empty()) {
    return;
  }
  const std::string wanted =
      edge.needed.empty() ? display_name(trace_.graph[edge.to]) : edge.needed;
  title(fmt::format("Searched for {} ({} {})",
                    printable(wanted),
                    asked_by(edge.kind),
                    shown_name(trace_.graph[edge.from])));
  std::size_t setting_columns = 0;
  for (const SearchStep& step : edge.search) {
    setting_columns = std::max(setting_columns, display_width(step_setting(step)));
  }
  setting_columns = std::min(setting_columns, widest_setting);
  for (const SearchStep& step : edge.search) {
    const bool found = step.outcome == SearchStep::Outcome::found;
    const std::string& place = step.path.empty() ? step.directory : step.path;
    Line line;
    line.add("    ");
    line.add(fmt::format("{:<11}", outcome_phrase(step.outcome)),
             found ? Style::green : Style::plain);
    line.add(pad_right(step_setting(step), setting_columns) + "  " + printable(place));
    if (!step.note.empty()) {
      line.add(fmt::format("  ({})", printable(step.note)), Style::dim);
    }
    out_ += line.paint(options_.color) + "\n";
  }
}

void WhyText::losers(const std::vector<Loser>& losers) {
  if (losers.empty()) {
    return;
  }
  title("Not taken");
  for (const Loser& loser : losers) {
    Line line;
    line.add("    " + printable(loser.path));
    if (!loser.place.empty()) {
      line.add("  " + shown_setting(loser.place), Style::dim);
    }
    if (!loser.reason.empty()) {
      line.add(": " + printable(loser.reason), Style::dim);
    }
    out_ += line.paint(options_.color) + "\n";
  }
}

}  // namespace

std::string why_text(const RenderOptions& options, const Trace& trace, const WhyAnswer& answer) {
  return why_text(options, trace, FirstLoads(trace), answer);
}

std::string why_text(const RenderOptions& options,
                     const Trace& trace,
                     const FirstLoads& loads,
                     const WhyAnswer& answer) {
  if (answer.matches.empty()) {
    return why_not_found(trace, answer);
  }
  WhyText text(options, trace, loads);
  std::string out;
  for (const WhyMatch& match : answer.matches) {
    out += out.empty() ? "" : "\n";
    text.match(match);
    out += text.take();
  }
  return out;
}

std::string why_not_found(const Trace& trace, const WhyAnswer& answer) {
  std::string text = fmt::format(
      "no library in {} matches '{}'", printable(trace.target), printable(answer.query));
  if (!answer.did_you_mean.empty()) {
    text += fmt::format("; did you mean {}?", printable(join(answer.did_you_mean, ", ")));
  }
  return text + "\n";
}

}  // namespace tracso
