// One library twice in one process.

#include "findings/duplicates_inside.hpp"
#include "findings/families.hpp"
#include "findings/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>

namespace tracso::findings {
namespace {

using Severity = Finding::Severity;
using Groups = std::map<std::string, std::vector<NodeId>>;

std::size_t builds_in(const Evidence& evidence, const std::vector<NodeId>& nodes) {
  std::set<std::string> builds;
  for (const NodeId node : nodes) {
    builds.insert(build_of(evidence.file(node)));
  }
  return builds.size();
}

std::uint64_t bytes_of(const Evidence& evidence, const std::vector<NodeId>& nodes) {
  std::uint64_t bytes = 0;
  for (const NodeId node : nodes) {
    bytes += evidence.graph()[node].cost.file.value_or(0);
  }
  return bytes;
}

// A thin library that stands before another of its name (libpython3.so before libpython3.11.so).
bool is_one_in_front_of_another(const Evidence& evidence, const std::vector<NodeId>& nodes) {
  return nodes.size() == 2 && (needs(evidence.graph(), nodes[0], nodes[1]) ||
                               needs(evidence.graph(), nodes[1], nodes[0]));
}

Groups by_stem(const Evidence& evidence) {
  Groups groups;
  for (const NodeId node : evidence.objects()) {
    const ObjectFile& file = evidence.file(node);
    const std::string stem = stem_of(file);
    // Plug-ins of two packages may well be called alike; a library's name begins with lib.
    if (file.role == ObjectFile::Role::library && stem.starts_with("lib")) {
      groups[stem].push_back(node);
    }
  }
  return groups;
}

bool has_rule_of_its_own(const std::optional<Family>& family) {
  return family && (family->name == "openmp" || family->name == "openssl");
}

}  // namespace

bool needs(const Graph& graph, NodeId from, NodeId to) {
  const auto effects = graph.effects_of(from);
  return std::any_of(effects.begin(), effects.end(), [&](EdgeId id) { return graph[id].to == to; });
}

std::vector<Finding> duplicate_libraries(const Evidence& evidence) {
  std::vector<Finding> findings = duplicates_inside(evidence);
  for (const auto& [stem, nodes] : by_stem(evidence)) {
    const auto family = family_of_stem(stem);
    if (nodes.size() < 2 || builds_in(evidence, nodes) < 2 || has_rule_of_its_own(family) ||
        (family && family->parallel) || is_one_in_front_of_another(evidence, nodes)) {
      continue;
    }
    const bool harmful = family && family->stateful;
    findings.push_back(finding_about(
        evidence,
        "dup-library",
        harmful ? Severity::warning : Severity::note,
        fmt::format(
            "{} is loaded in {} builds: {}", stem, nodes.size(), listed(names_of(evidence, nodes))),
        nodes));
  }
  return findings;
}

std::vector<Finding> duplicate_sonames(const Evidence& evidence) {
  std::map<std::pair<std::string, std::int64_t>, std::vector<NodeId>> groups;
  for (const NodeId node : evidence.objects()) {
    const ObjectFile& file = evidence.file(node);
    const auto& soname = file.elf.dynamic.soname;
    if (soname && !soname->empty()) {
      groups[{*soname, file.link_namespace}].push_back(node);
    }
  }
  std::vector<Finding> findings;
  for (const auto& [key, nodes] : groups) {
    // Libraries of one stem are told as such; here the name is all that they have in common.
    std::set<std::string> stems;
    for (const NodeId node : nodes) {
      stems.insert(stem_of(evidence.file(node)));
    }
    if (nodes.size() > 1 && builds_in(evidence, nodes) > 1 && stems.size() > 1) {
      findings.push_back(
          finding_about(evidence,
                        "dup-soname",
                        Severity::warning,
                        fmt::format("{} files call themselves {}", nodes.size(), key.first),
                        nodes));
    }
  }
  return findings;
}

std::vector<Finding> identical_copies(const Evidence& evidence) {
  Groups groups;
  for (const NodeId node : evidence.objects()) {
    if (!evidence.file(node).elf.build_id.empty()) {
      groups[evidence.file(node).elf.build_id].push_back(node);
    }
  }
  std::vector<Finding> findings;
  for (const auto& [build, nodes] : groups) {
    if (nodes.size() > 1) {
      findings.push_back(
          finding_about(evidence,
                        "dup-identical",
                        Severity::note,
                        fmt::format("{} copies of one build are loaded: {} ({} bytes)",
                                    nodes.size(),
                                    listed(names_of(evidence, nodes)),
                                    bytes_of(evidence, nodes)),
                        nodes));
    }
  }
  return findings;
}

}  // namespace tracso::findings
