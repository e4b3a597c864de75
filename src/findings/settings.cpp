// What variables, RPATHs and preloads have done.

#include "base/text.hpp"
#include "findings/families.hpp"
#include "findings/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace tracso::findings {
namespace {

using Severity = Finding::Severity;

// The copy beside the library that its builder meant, where LD_LIBRARY_PATH came first.
const SearchStep* lost_run_path(const Edge& edge) {
  const auto found =
      std::find_if(edge.search.begin(), edge.search.end(), [](const SearchStep& step) {
        return step.outcome == SearchStep::Outcome::lost && step.place == Rule::runpath;
      });
  return found == edge.search.end() ? nullptr : &*found;
}

bool is_delicate(const ObjectFile& file) {
  const auto family = family_of(file);
  return family && (family->name == "libpython" || family->name == "libstdc++" ||
                    family->name.starts_with("cu"));
}

// "/usr" of "/usr/bin/python3.11".
std::optional<std::string> prefix_of_program(const Evidence& evidence) {
  for (const NodeId node : evidence.objects()) {
    const ObjectFile& file = evidence.file(node);
    const std::string_view folder = directory_of(file.path.text);
    if (file.role == ObjectFile::Role::executable && folder.ends_with("/bin")) {
      return std::string(folder.substr(0, folder.size() - 4));
    }
  }
  return std::nullopt;
}

std::string_view origin_name(const Evidence& evidence, NodeId node) {
  const auto* origin = std::get_if<EnvironmentOrigin>(&evidence.graph()[node].subject);
  return origin == nullptr ? std::string_view() : std::string_view(origin->name);
}

std::string without_kind(std::string_view name) {
  const auto colon = name.find(':');
  return std::string(colon == std::string_view::npos ? name : name.substr(colon + 1));
}

// Elements that mean the current directory, wherever that is.
std::vector<std::string> open_elements(const std::optional<std::string>& path) {
  std::vector<std::string> found;
  if (!path || path->empty()) {
    return found;
  }
  for (const std::string_view element : split(*path, ':')) {
    if (element.empty() || (element.front() != '/' && element.front() != '$')) {
      found.push_back(element.empty() ? "(empty)" : std::string(element));
    }
  }
  return found;
}

}  // namespace

std::vector<Finding> library_path_override(const Evidence& evidence) {
  std::vector<Finding> findings;
  std::set<NodeId> told;
  for (const Edge& edge : evidence.graph().edges()) {
    const ObjectFile* file = object(evidence.graph()[edge.to]);
    const SearchStep* lost = edge.rule == Rule::env ? lost_run_path(edge) : nullptr;
    if (lost == nullptr || file == nullptr || lost->path == file->path.text ||
        !told.insert(edge.to).second) {
      continue;
    }
    const std::string who = evidence.name(edge.from);
    Finding finding = finding_about(
        evidence,
        "ldpath-override",
        is_delicate(*file) ? Severity::error : Severity::warning,
        fmt::format("{} comes from LD_LIBRARY_PATH, not from where {} was built to look",
                    evidence.name(edge.to),
                    who),
        {edge.to});
    finding.evidence.push_back(fmt::format("the RUNPATH of {} has {}", who, lost->path));
    findings.push_back(std::move(finding));
  }
  return findings;
}

std::vector<Finding> shadowed_python(const Evidence& evidence) {
  const auto prefix = prefix_of_program(evidence);
  if (!prefix || *prefix == "/usr" || prefix->empty()) {
    return {};
  }
  std::vector<Finding> findings;
  for (const Edge& edge : evidence.graph().edges()) {
    const ObjectFile* file = object(evidence.graph()[edge.to]);
    const auto family = file == nullptr ? std::nullopt : family_of(*file);
    const bool foreign = family && family->name == "libpython" && edge.rule == Rule::env &&
                         !file->path.text.starts_with(*prefix + "/");
    const bool own_lost =
        foreign && std::any_of(edge.search.begin(), edge.search.end(), [&](const SearchStep& step) {
          return step.outcome == SearchStep::Outcome::lost && step.path.starts_with(*prefix + "/");
        });
    if (own_lost) {
      Finding finding = finding_about(evidence,
                                      "ldpath-shadow-python",
                                      Severity::error,
                                      fmt::format("the Python of {} runs with the libpython of {}",
                                                  *prefix,
                                                  directory_of(file->path.text)),
                                      {edge.to});
      finding.evidence.push_back("LD_LIBRARY_PATH leads there first");
      findings.push_back(std::move(finding));
    }
  }
  return findings;
}

std::vector<Finding> prediction_differs(const Evidence& evidence) {
  std::vector<NodeId> nodes;
  std::vector<std::string> lines;
  for (const Edge& edge : evidence.graph().edges()) {
    if (!edge.restart_would_load.empty() &&
        std::find(nodes.begin(), nodes.end(), edge.to) == nodes.end()) {
      nodes.push_back(edge.to);
      lines.push_back(fmt::format(
          "{}: a restart would load {}", evidence.name(edge.to), edge.restart_would_load));
    }
  }
  if (nodes.empty()) {
    return {};
  }
  Finding finding = finding_about(
      evidence,
      "prediction-differs",
      Severity::note,
      fmt::format("a restart would load another file for {}", listed(names_of(evidence, nodes))),
      nodes);
  finding.evidence = std::move(lines);
  return {std::move(finding)};
}

std::vector<Finding> active_preloads(const Evidence& evidence) {
  std::map<std::string, std::vector<NodeId>> by_setting;
  for (const Edge& edge : evidence.graph().edges()) {
    const ObjectFile* file = object(evidence.graph()[edge.to]);
    const bool there = file != nullptr && file->state != ObjectFile::State::missing;
    if (edge.kind == EdgeKind::preload && there) {
      by_setting[without_kind(origin_name(evidence, edge.from))].push_back(edge.to);
    }
  }
  std::vector<Finding> findings;
  for (const auto& [setting, nodes] : by_setting) {
    findings.push_back(
        finding_about(evidence,
                      "preload-active",
                      Severity::note,
                      fmt::format("{} brought in {}", setting, listed(names_of(evidence, nodes))),
                      nodes));
  }
  return findings;
}

std::vector<Finding> missing_preloads(const Evidence& evidence) {
  std::vector<Finding> findings;
  for (const Edge& edge : evidence.graph().edges()) {
    const ObjectFile* file = object(evidence.graph()[edge.to]);
    const bool missing = file != nullptr && file->state == ObjectFile::State::missing;
    if (edge.kind == EdgeKind::preload && missing) {
      findings.push_back(
          finding_about(evidence,
                        "preload-missing",
                        Severity::warning,
                        fmt::format("{} names {}, which was not loaded",
                                    without_kind(origin_name(evidence, edge.from)),
                                    edge.needed.empty() ? evidence.name(edge.to) : edge.needed),
                        {edge.to}));
    }
  }
  return findings;
}

std::vector<Finding> late_variables(const Evidence& evidence) {
  std::vector<Finding> findings;
  const auto words = [](const std::optional<std::string>& value) {
    return value ? *value : std::string("not set");
  };
  for (const ChangedVariable& one : evidence.facts().changed_variables) {
    Finding finding = finding_about(
        evidence,
        "preload-late",
        Severity::note,
        fmt::format("{} was {} after the start: it counts for children, not for this process",
                    one.name,
                    !one.before ? "set"
                    : !one.now  ? "taken out"
                                : "changed"),
        {});
    finding.evidence = {"at the start: " + words(one.before), "now: " + words(one.now)};
    findings.push_back(std::move(finding));
  }
  return findings;
}

// LD_LIBRARY_PATH=/opt/lib:$LD_LIBRARY_PATH, where the latter was not set.
std::vector<Finding> open_library_path(const Evidence& evidence) {
  const ProblemFacts& facts = evidence.facts();
  std::string path = facts.library_path;
  std::replace(path.begin(), path.end(), ';', ':');  // glibc takes both
  if (open_elements(path).empty()) {
    return {};
  }
  const auto objects = evidence.objects();
  const auto program = std::find_if(objects.begin(), objects.end(), [&](NodeId node) {
    return evidence.file(node).role == ObjectFile::Role::executable;
  });
  Finding finding = finding_about(
      evidence,
      "path-empty",
      Severity::warning,
      fmt::format("{} makes the loader look in the current directory", facts.library_path_setting),
      program == objects.end() ? std::vector<NodeId>() : std::vector{*program});
  finding.evidence.push_back(fmt::format("{} {}", facts.library_path_setting, facts.library_path));
  return {std::move(finding)};
}

std::vector<Finding> empty_paths(const Evidence& evidence) {
  std::vector<Finding> findings = open_library_path(evidence);
  for (const NodeId node : evidence.objects()) {
    const auto& dynamic = evidence.file(node).elf.dynamic;
    const bool is_runpath = dynamic.runpath.has_value();
    const auto elements = open_elements(is_runpath ? dynamic.runpath : dynamic.rpath);
    if (elements.empty()) {
      continue;
    }
    const std::string_view tag = is_runpath ? "RUNPATH" : "RPATH";
    Finding finding =
        finding_about(evidence,
                      "path-empty",
                      Severity::warning,
                      fmt::format("the {} of {} makes the loader look in the current directory",
                                  tag,
                                  evidence.name(node)),
                      {node});
    finding.evidence.push_back(
        fmt::format("{} {}", tag, is_runpath ? *dynamic.runpath : *dynamic.rpath));
    findings.push_back(std::move(finding));
  }
  return findings;
}

std::vector<Finding> skipped_probe(const Evidence& evidence) {
  const auto& notices = evidence.trace().notices;
  const auto found = std::find_if(notices.begin(), notices.end(), [](const Notice& notice) {
    return notice.code == "python-probe-path";
  });
  if (found == notices.end()) {
    return {};
  }
  Finding finding = finding_about(evidence,
                                  "probe-skipped",
                                  Severity::note,
                                  "packages are told by the names of files only",
                                  {});
  finding.evidence = {found->text, found->effect};
  return {finding};
}

}  // namespace tracso::findings
