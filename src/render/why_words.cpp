#include "render/why_words.hpp"

#include "base/text.hpp"
#include "render/load_words.hpp"
#include "render/unreached.hpp"
#include "render/words.hpp"

#include <fmt/format.h>

namespace tracso {
namespace {

// Where the rule says more than the kind of the edge does.
std::string found_through(const Edge& edge) {
  const std::string phrase = rule_phrase(edge);
  const bool said = edge.kind == EdgeKind::dlopen && !edge.detail.empty();
  if (phrase.empty() || said || edge.kind == EdgeKind::preload || edge.kind == EdgeKind::origin) {
    return "";
  }
  if (edge.rule == Rule::none) {
    // The search of today finds another file: how this one was found nobody knows any more.
    return !edge.restart_would_load.empty() ? ", by which rule is no longer known" : " " + phrase;
  }
  return edge.rule == Rule::already_loaded ? ", " + phrase : ", found through " + phrase;
}

bool is_root(const Node& node) {
  return std::holds_alternative<TargetRoot>(node.subject);
}

// "_core.so needs it": subject and verb of the edge, of one that is there or will be.
std::string clause(const Edge& edge, const Node& from) {
  const std::string who = shown_name(from);
  switch (edge.kind) {
    case EdgeKind::origin:
      if (is_root(from) && !edge.detail.empty()) {
        return printable(edge.detail);
      }
      return is_root(from) ? "it is the program of " + who : "it is a module's own file";
    case EdgeKind::interpreter:
      return who + " asks for it as its loader (PT_INTERP)";
    case EdgeKind::needed:
      return who + " needs it";
    case EdgeKind::filter:
      return who + " filters through it (DT_FILTER)";
    case EdgeKind::auxiliary:
      return who + " prefers its symbols (DT_AUXILIARY)";
    case EdgeKind::preload:
      return who + " names it";
    case EdgeKind::audit:
      return who + " asks for it as auditor";
    case EdgeKind::dlopen:
      if (is_root(from)) {
        return edge.detail.empty() ? "dlopen, caller unknown" : printable(edge.detail);
      }
      return who + " opened it (dlopen)";
  }
  return who;
}

// The source that heads the deciding chain, where it is not the edge's own beginning.
std::string brought_by(const Trace& trace, const WhyMatch& match, EdgeId cause) {
  for (const auto& chain : match.chains) {
    if (!chain.empty() && chain.back() == cause) {
      const NodeId head = match.cut_from.value_or(trace.graph[chain.front()].from);
      const bool says_more = head != trace.graph[cause].from && is_source(trace.graph[head]);
      return says_more ? shown_name(trace.graph[head]) : "";
    }
  }
  return "";
}

// The first importer, of the edge that decided.
std::string imported_by(const Edge& edge) {
  return edge.importers.empty() ? "" : "; " + short_importer_phrase(edge.importers.front());
}

std::string verb(const Trace& trace, const Node& node, bool named) {
  const ObjectFile* file = object(node);
  if (is_unreached(node)) {
    return named ? " was not reached by the loader; it would have come in with "
                 : " was not reached by the loader: ";
  }
  if (is_gone(trace, node)) {
    return named ? " is not loaded any more; it came in with " : " is not loaded any more: ";
  }
  if (file != nullptr && file->state == ObjectFile::State::missing) {
    return named ? " was not found, wanted by " : " was not found: ";
  }
  if (file != nullptr && file->loaded) {
    return named ? " came in with " : " is loaded: ";
  }
  return named ? " would come in with " : " would be loaded: ";
}

}  // namespace

std::optional<EdgeId> deciding_edge(const Trace& trace, const WhyMatch& match) {
  if (const auto first = first_cause_of(trace.graph, match.node)) {
    return first;
  }
  for (const auto& chain : match.chains) {
    if (!chain.empty()) {
      return chain.back();
    }
  }
  const auto causes = trace.graph.causes_of(match.node);
  return causes.empty() ? std::nullopt : std::optional(causes.front());
}

std::string why_headline(const Trace& trace, const WhyMatch& match) {
  const Node& node = trace.graph[match.node];
  const std::string name = shown_name(node);
  const auto cause = deciding_edge(trace, match);
  if (!cause) {
    return name + verb(trace, node, false) + "nothing seen names it";
  }
  const Edge& edge = trace.graph[*cause];
  const std::string source = brought_by(trace, match, *cause);
  std::string text = name + verb(trace, node, !source.empty());
  text += source.empty() ? "" : source + ": ";
  text += clause(edge, trace.graph[edge.from]) + found_through(edge) + imported_by(edge);
  if (!edge.fatal.empty()) {
    text += fmt::format("; the loader stops: {}", printable(edge.fatal));
  }
  return text;
}

std::string hop_phrase(const Graph& graph, const Edge& edge) {
  const Node& to = graph[edge.to];
  std::string text;
  switch (edge.kind) {
    case EdgeKind::origin:
      return is_root(graph[edge.from]) ? "the target" : "its file";
    case EdgeKind::interpreter:
      text = "PT_INTERP";
      break;
    case EdgeKind::needed:
      text = "needed";
      break;
    case EdgeKind::filter:
      text = "DT_FILTER";
      break;
    case EdgeKind::auxiliary:
      text = "DT_AUXILIARY";
      break;
    case EdgeKind::preload:
      text = "preloaded";
      break;
    case EdgeKind::audit:
      text = "audit";
      break;
    case EdgeKind::dlopen:
      text = edge.detail.empty() ? "dlopen" : printable(edge.detail);
      break;
  }
  // The folder of the file stands above the chains already.
  if (!edge.needed.empty() && base_name(edge.needed) != display_name(to)) {
    text += fmt::format(" as {}", printable(edge.needed));
  }
  text += is_missing(to) ? ", not found" : found_through(edge);
  return text;
}

std::string_view outcome_phrase(SearchStep::Outcome outcome) {
  switch (outcome) {
    case SearchStep::Outcome::found:
      return "found";
    case SearchStep::Outcome::absent:
      return "not found";
    case SearchStep::Outcome::wrong_class:
      return "wrong kind";
    case SearchStep::Outcome::denied:
      return "denied";
    case SearchStep::Outcome::skipped:
      return "skipped";
    case SearchStep::Outcome::fatal:
      return "fatal";
    case SearchStep::Outcome::lost:
      return "lost";
  }
  return "";
}

std::string step_setting(const SearchStep& step) {
  if (!step.setting.empty()) {
    return shown_setting(step.setting);
  }
  Edge plain;
  plain.rule = step.place;
  return rule_phrase(plain);
}

std::string_view state_sentence(ObjectFile::State state) {
  switch (state) {
    case ObjectFile::State::deleted:
      return "deleted on disk since it was loaded";
    case ObjectFile::State::replaced:
      return "another file stands at this path since it was loaded";
    case ObjectFile::State::rewritten:
      return "its content on disk changed since it was loaded";
    case ObjectFile::State::current:
    case ObjectFile::State::missing:
      return "";
  }
  return "";
}

}  // namespace tracso
