#include "render/words.hpp"

#include "base/sizes.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <array>

namespace tracso {
namespace {

std::string_view rule_name(Rule rule) {
  switch (rule) {
    case Rule::none:
      return "";
    case Rule::direct:
      return "the path as written";
    case Rule::already_loaded:
      return "already loaded";
    case Rule::rpath:
      return "RPATH";
    case Rule::env:
      return "LD_LIBRARY_PATH";
    case Rule::runpath:
      return "RUNPATH";
    case Rule::cache:
      return "ld.so.cache";
    case Rule::default_dir:
      return "default directory";
    case Rule::preload:
      return "preload";
    case Rule::reserved:
      return "the loader itself";
  }
  return "";
}

// "RPATH of app (inherited)" says whose it is: no "inherited from app" behind it.
std::string_view unsaid_detail(std::string_view phrase, std::string_view detail) {
  if (phrase.ends_with("(inherited)") && detail.starts_with("inherited from ")) {
    const std::size_t end = detail.find(", ");
    return end == std::string_view::npos ? std::string_view() : detail.substr(end + 2);
  }
  return detail;
}

}  // namespace

std::string shown_name(const Node& node) {
  return printable(display_name(node));
}

DistinctNames::DistinctNames(const Trace& trace, const Summary& summary)
    : trace_(trace), summary_(summary) {
  std::set<std::string> seen;
  for (const Node& node : trace.graph.nodes()) {
    if (object(node) != nullptr && !seen.insert(display_name(node)).second) {
      shared_.insert(display_name(node));
    }
  }
}

std::string DistinctNames::operator()(NodeId node) const {
  const Node& subject = trace_.graph[node];
  const bool ambiguous = object(subject) != nullptr && index(node) < summary_.ids.size() &&
                         shared_.contains(display_name(subject));
  return ambiguous ? printable(summary_.ids[index(node)]) : shown_name(subject);
}

std::string_view state_mark(ObjectFile::State state) {
  switch (state) {
    case ObjectFile::State::deleted:
      return "  (deleted)";
    case ObjectFile::State::replaced:
      return "  (replaced on disk)";
    case ObjectFile::State::rewritten:
      return "  (rewritten on disk)";
    case ObjectFile::State::current:
    case ObjectFile::State::missing:
      return "";
  }
  return "";
}

std::string shown_size(const Node& node) {
  return node.cost.file ? size_text(*node.cost.file) : "";
}

std::string csv_field(std::string_view field) {
  if (field.find_first_of(",\"\r\n") == std::string_view::npos) {
    return std::string(field);
  }
  std::string out = "\"";
  for (const char c : field) {
    out += c == '"' ? "\"\"" : std::string(1, c);
  }
  return out + '"';
}

std::string size_or_dash(const std::optional<std::uint64_t>& bytes) {
  return bytes ? size_text(*bytes) : "-";
}

std::string signal_name(int number) {
  static constexpr std::array names{
      "",     "HUP",  "INT",  "QUIT", "ILL",    "TRAP", "ABRT",  "BUS",  "FPE",  "KILL", "USR1",
      "SEGV", "USR2", "PIPE", "ALRM", "TERM",   "",     "CHLD",  "CONT", "STOP", "TSTP", "TTIN",
      "TTOU", "URG",  "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "IO",   "PWR",  "SYS"};
  const auto at = static_cast<std::size_t>(number);
  if (number > 0 && at < names.size() && *names[at] != '\0') {
    return fmt::format("SIG{}", names[at]);
  }
  return fmt::format("signal {}", number);
}

std::string shown_setting(std::string_view setting) {
  constexpr std::string_view of = " of ";
  const std::size_t at = setting.find(" of /");
  if (at == std::string_view::npos) {
    return printable(setting);
  }
  const std::string_view owner = setting.substr(at + of.size());
  return printable(std::string(setting.substr(0, at + of.size())).append(base_name(owner)));
}

std::string rule_phrase(const Edge& edge) {
  // A dlopen's detail is who called it; by which rule its name was found is a small thing beside.
  if (edge.kind == EdgeKind::dlopen && !edge.detail.empty()) {
    return printable(edge.detail);
  }
  std::string phrase(rule_name(edge.rule));
  for (const SearchStep& step : edge.search) {
    if (step.outcome == SearchStep::Outcome::found && !step.setting.empty()) {
      phrase = shown_setting(step.setting);
    }
  }
  // "LD_LIBRARY_PATH entry 2" needs no "entry 2" behind it.
  const std::string detail = printable(unsaid_detail(phrase, edge.detail));
  if (!detail.empty() && phrase.find(detail) == std::string::npos) {
    phrase += fmt::format("{}({})", phrase.empty() ? "" : " ", detail);
  }
  return phrase;
}

std::optional<EdgeId> first_cause_of(const Graph& graph, NodeId node) {
  for (const EdgeId id : graph.causes_of(node)) {
    if (graph[id].first) {
      return id;
    }
  }
  return std::nullopt;
}

std::string_view path_of(const Node& node) {
  const ObjectFile* file = object(node);
  return file == nullptr ? std::string_view() : std::string_view(file->path.text);
}

bool is_missing(const Node& node) {
  const ObjectFile* file = object(node);
  return file != nullptr && file->state == ObjectFile::State::missing;
}

bool is_gone(const Trace& trace, const Node& node) {
  const ObjectFile* file = object(node);
  return trace.process && file != nullptr && !file->loaded && !is_missing(node);
}

}  // namespace tracso
