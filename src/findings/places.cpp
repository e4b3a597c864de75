// Who else may put code into the process.

#include "base/own_agent.hpp"
#include "findings/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace tracso::findings {
namespace {

using Severity = Finding::Severity;

constexpr std::uint32_t write_by_others = 02, sticky = 01000;
constexpr std::size_t most_lines = 8;

std::string subject(const Evidence& evidence, const Place& place) {
  switch (place.what) {
    case Place::What::file:
      return fmt::format("the file {}", place.path);
    case Place::What::directory:
      return fmt::format("{}, where {} lies", place.path, evidence.name(place.node));
    case Place::What::search_path:
      break;
  }
  return fmt::format(
      "{}, searched by the {} of {}", place.path, place.named_by, evidence.name(place.node));
}

std::string who_may(const Place& place, std::uint32_t user) {
  if ((place.mode & write_by_others) != 0) {
    return (place.mode & sticky) != 0 ? "anybody may put files there" : "anybody may write there";
  }
  return fmt::format("it belongs to user {}, not to root or to user {}", place.owner, user);
}

std::vector<NodeId> nodes_of(const std::vector<const Place*>& places) {
  std::vector<NodeId> nodes;
  for (const Place* place : places) {
    if (std::find(nodes.begin(), nodes.end(), place->node) == nodes.end()) {
      nodes.push_back(place->node);
    }
  }
  return nodes;
}

void set_lines(std::vector<std::string> lines, Finding& finding) {
  if (lines.size() > most_lines) {
    const std::size_t more = lines.size() - most_lines;
    lines.resize(most_lines);
    lines.push_back(fmt::format("and {} more", more));
  }
  finding.evidence = std::move(lines);
}

// A file put there would be loaded in place of this one.
std::optional<NodeId> overtaken(const Evidence& evidence, const Place& place) {
  if (place.what != Place::What::search_path) {
    return std::nullopt;
  }
  for (const Edge& edge : evidence.graph().edges()) {
    const ObjectFile* file = object(evidence.graph()[edge.to]);
    if (file == nullptr || file->state == ObjectFile::State::missing) {
      continue;
    }
    bool seen = false;
    for (const SearchStep& step : edge.search) {
      seen = seen || (step.outcome == SearchStep::Outcome::absent && step.directory == place.path);
      if (step.outcome == SearchStep::Outcome::found) {
        if (seen) {
          return edge.to;
        }
        break;
      }
    }
  }
  return std::nullopt;
}

// Anybody may write there, or it belongs to somebody else and the process is root's.
bool is_grave(const Place& place, std::uint32_t user) {
  const bool open = (place.mode & write_by_others) != 0 && (place.mode & sticky) == 0;
  return user == 0 && (open || place.owner != 0);
}

}  // namespace

std::vector<Finding> writable_places(const Evidence& evidence) {
  const ProblemFacts& facts = evidence.facts();
  std::vector<const Place*> places;
  std::vector<std::string> lines;
  bool grave = false;
  for (const Place& place : facts.places) {
    const bool open = (place.mode & write_by_others) != 0;
    if (!place.exists || (!open && (place.owner == 0 || place.owner == facts.user))) {
      continue;
    }
    places.push_back(&place);
    const auto before = open ? overtaken(evidence, place) : std::nullopt;
    lines.push_back(fmt::format(
        "{}: {}{}",
        subject(evidence, place),
        who_may(place, facts.user),
        before ? fmt::format(", and it comes before where {} is found", evidence.name(*before))
               : ""));
    grave = grave || before || is_grave(place, facts.user);
  }
  if (places.empty()) {
    return {};
  }
  Finding finding = finding_about(
      evidence,
      "path-writable",
      grave ? Severity::error : Severity::warning,
      fmt::format("others may change what is loaded: {}{}",
                  places.front()->path,
                  places.size() > 1 ? fmt::format(" and {} more", places.size() - 1) : ""),
      nodes_of(places));
  set_lines(std::move(lines), finding);
  return {std::move(finding)};
}

std::vector<Finding> creatable_paths(const Evidence& evidence) {
  std::vector<const Place*> places;
  std::vector<std::string> lines;
  for (const Place& place : evidence.facts().places) {
    if (!place.exists && place.creatable) {
      places.push_back(&place);
      lines.push_back(
          fmt::format("{}: it does not exist, and anybody may make it", subject(evidence, place)));
    }
  }
  if (places.empty()) {
    return {};
  }
  Finding finding =
      finding_about(evidence,
                    "path-gone",
                    Severity::warning,
                    fmt::format("the loader looks in {}, which anybody may make", places[0]->path),
                    nodes_of(places));
  set_lines(std::move(lines), finding);
  return {std::move(finding)};
}

std::vector<Finding> remote_files(const Evidence& evidence) {
  std::vector<const Place*> places;
  std::vector<std::string> lines;
  for (const Place& place : evidence.facts().places) {
    if (!place.file_system.empty()) {
      places.push_back(&place);
      lines.push_back(fmt::format("{} ({})", place.path, place.file_system));
    }
  }
  if (places.empty()) {
    return {};
  }
  Finding finding = finding_about(
      evidence,
      "net-fs",
      Severity::note,
      fmt::format("{} mapped from a network file system", libraries_are(places.size())),
      nodes_of(places));
  set_lines(std::move(lines), finding);
  return {std::move(finding)};
}

std::vector<Finding> relative_files(const Evidence& evidence) {
  std::vector<NodeId> nodes;
  std::vector<std::string> lines;
  for (const auto& [node, name] : evidence.facts().relative_names) {
    if (is_own_agent(evidence.file(node).path.text)) {
      continue;
    }
    nodes.push_back(node);
    lines.push_back(fmt::format("{}: opened as {}", evidence.described(node), name));
  }
  if (nodes.empty()) {
    return {};
  }
  Finding finding =
      finding_about(evidence,
                    "path-cwd",
                    Severity::note,
                    fmt::format("{} opened by a name that depends on the working directory: {}",
                                libraries_are(nodes.size()),
                                listed(names_of(evidence, nodes))),
                    nodes);
  set_lines(std::move(lines), finding);
  return {std::move(finding)};
}

}  // namespace tracso::findings
