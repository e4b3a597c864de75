// What is needed and not there.

#include "base/text.hpp"
#include "findings/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

namespace tracso::findings {
namespace {

using Severity = Finding::Severity;

bool is_missing_edge(const Evidence& evidence, const Edge& edge) {
  const ObjectFile* file = object(evidence.graph()[edge.to]);
  return file != nullptr && file->state == ObjectFile::State::missing && !edge.optional &&
         edge.kind != EdgeKind::preload && edge.kind != EdgeKind::audit;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// The search finds it: the loader stopped before it came so far.
bool is_found_by_search(const Edge& edge) {
  return std::any_of(edge.search.begin(), edge.search.end(), [](const SearchStep& step) {
    return step.outcome == SearchStep::Outcome::found;
  });
}

// --run saw the loader stop for want of it.
bool stopped_the_loader(const Trace& trace, const std::string& name) {
  return std::any_of(trace.failed_loads.begin(),
                     trace.failed_loads.end(),
                     [&](const FailedLoad& failed) { return failed.name == name; });
}

// A library that is there, but for another machine.
const SearchStep* other_machine(const Edge& edge) {
  const auto found =
      std::find_if(edge.search.begin(), edge.search.end(), [](const SearchStep& step) {
        return step.outcome == SearchStep::Outcome::wrong_class;
      });
  return found == edge.search.end() ? nullptr : &*found;
}

void add_places(const Edge& edge, Finding& finding) {
  constexpr std::size_t most = 12;
  for (std::size_t i = 0; i < std::min(most, edge.search.size()); ++i) {
    const SearchStep& step = edge.search[i];
    const std::string& place = step.path.empty() ? step.directory : step.path;
    if (!place.empty()) {
      finding.evidence.push_back("looked in " + place);
    }
  }
}

// A library that was asked about by itself and is not called like one: who loads it is not known,
// nor what that brings along.
bool is_plugin(const Evidence& evidence, NodeId node) {
  const ObjectFile& file = evidence.file(node);
  const bool asked = evidence.trace().interpreter == file.path.text ||
                     (!evidence.objects().empty() && evidence.objects().front() == node);
  return asked && file.role == ObjectFile::Role::library &&
         !base_name(file.path.text).starts_with("lib");
}

}  // namespace

std::vector<Finding> missing_needed(const Evidence& evidence) {
  std::vector<Finding> findings;
  std::set<NodeId> told;
  for (const Edge& edge : evidence.graph().edges()) {
    if (!is_missing_edge(evidence, edge) || other_machine(edge) != nullptr ||
        is_found_by_search(edge) || !told.insert(edge.to).second) {
      continue;
    }
    const bool live = evidence.trace().process.has_value();
    Finding finding =
        finding_about(evidence,
                      "missing-needed",
                      live && !stopped_the_loader(evidence.trace(), edge.needed) ? Severity::warning
                                                                                 : Severity::error,
                      fmt::format("{} needs {}, which {}",
                                  evidence.name(edge.from),
                                  edge.needed,
                                  live ? "no loaded file answers to" : "is not found"),
                      {edge.to});
    finding.owners = evidence.owners(edge.from);
    finding.evidence = {"needed by " + evidence.described(edge.from)};
    add_places(edge, finding);
    findings.push_back(std::move(finding));
  }
  return findings;
}

std::vector<Finding> missing_versions(const Evidence& evidence) {
  std::vector<Finding> findings;
  for (const Edge& edge : evidence.graph().edges()) {
    if (!contains(edge.fatal, "version `")) {
      continue;
    }
    Finding finding = finding_about(evidence,
                                    "missing-version",
                                    Severity::error,
                                    fmt::format("{} asks {} for a version that it does not have",
                                                evidence.name(edge.from),
                                                evidence.name(edge.to)),
                                    {edge.from, edge.to});
    finding.evidence.push_back(edge.fatal);
    // The notices of a FILE name the symbol and a file that has the version.
    for (const Notice& notice : evidence.trace().notices) {
      if (notice.code == "missing-version" && contains(notice.text, evidence.name(edge.from))) {
        finding.evidence.push_back(notice.text + "; " + notice.effect);
      }
    }
    findings.push_back(std::move(finding));
  }
  return findings;
}

std::vector<Finding> wrong_architecture(const Evidence& evidence) {
  std::vector<Finding> findings;
  std::set<NodeId> told;
  for (const Edge& edge : evidence.graph().edges()) {
    const SearchStep* other = other_machine(edge);
    if (!is_missing_edge(evidence, edge) || other == nullptr || !told.insert(edge.to).second) {
      continue;
    }
    Finding finding =
        finding_about(evidence,
                      "wrong-arch",
                      Severity::error,
                      fmt::format("{} needs {}, which is there for another machine only",
                                  evidence.name(edge.from),
                                  edge.needed),
                      {edge.to});
    finding.evidence = {"needed by " + evidence.described(edge.from),
                        other->path + (other->note.empty() ? "" : ": " + other->note)};
    findings.push_back(std::move(finding));
  }
  return findings;
}

std::vector<Finding> undefined_symbols(const Evidence& evidence) {
  std::map<NodeId, std::vector<std::string>> by_object;
  for (const UndefinedName& one : evidence.facts().undefined) {
    by_object[one.object].push_back(one.version.empty() ? one.symbol
                                                        : one.symbol + "@" + one.version);
  }
  std::vector<Finding> findings;
  const bool live = evidence.trace().process.has_value();
  for (const auto& [node, names] : by_object) {
    const bool of_host = !live && is_plugin(evidence, node);
    constexpr std::size_t most_in_title = 2;
    constexpr std::size_t most = 12;
    Finding finding = finding_about(evidence,
                                    "undefined-symbol",
                                    live || of_host ? Severity::note : Severity::warning,
                                    fmt::format("{} wants {}, which nothing {} defines",
                                                evidence.name(node),
                                                listed(names, most_in_title),
                                                live ? "loaded" : "it would be loaded with"),
                                    {node});
    for (std::size_t i = 0; i < std::min(most, names.size()); ++i) {
      finding.evidence.push_back("undefined: " + names[i]);
    }
    if (names.size() > most) {
      finding.evidence.push_back(fmt::format("and {} more", names.size() - most));
    }
    if (live) {
      finding.evidence.emplace_back("not called so far: the first call would end the process");
    } else if (of_host) {
      finding.evidence.emplace_back("the program that loads it may bring them");
      finding.confidence = "inferred";
    }
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace tracso::findings
