// Two OpenMP runtimes, two builds of OpenSSL: whether it hurts is told by the symbols.

#include "findings/duplicates_inside.hpp"
#include "findings/families.hpp"
#include "findings/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

namespace tracso::findings {
namespace {

using Severity = Finding::Severity;

struct Runtime {
  NodeId node{};
  std::string kind;
  const OwnRuntime* inside = nullptr;  // linked into another library; null: a file of its own
};

std::vector<Runtime> runtimes(const Evidence& evidence, std::string_view family) {
  std::vector<Runtime> found;
  for (const NodeId node : evidence.objects()) {
    const auto known = family_of(evidence.file(node));
    if (known && known->name == family && evidence.file(node).role == ObjectFile::Role::library) {
      found.push_back({node, std::string(known->kind), nullptr});
    }
  }
  for (const OwnRuntime& inside : evidence.facts().runtimes) {
    if (inside.family == family) {
      found.push_back({inside.object, inside.kind, &inside});
    }
  }
  return found;
}

std::vector<NodeId> nodes_of(const std::vector<Runtime>& runtimes) {
  std::vector<NodeId> nodes;
  nodes.reserve(runtimes.size());
  for (const Runtime& runtime : runtimes) {
    nodes.push_back(runtime.node);
  }
  return nodes;
}

bool is_one_of(const std::vector<NodeId>& nodes, const std::optional<NodeId>& node) {
  return node && std::find(nodes.begin(), nodes.end(), *node) != nodes.end();
}

// Calls that go to another of them than the caller was linked to.
std::vector<const Binding*> crossed(const Evidence& evidence, const std::vector<NodeId>& nodes) {
  std::vector<const Binding*> found;
  for (const Binding& binding : evidence.facts().bindings) {
    if (binding.interposed && binding.usual.empty() && is_one_of(nodes, binding.provider) &&
        is_one_of(nodes, binding.promised) &&
        build_of(evidence.file(*binding.provider)) != build_of(evidence.file(*binding.promised))) {
      found.push_back(&binding);
    }
  }
  return found;
}

void add_own(const Evidence& evidence, const std::vector<Runtime>& runtimes, Finding& finding) {
  for (const Runtime& runtime : runtimes) {
    if (runtime.inside != nullptr) {
      finding.evidence.push_back(
          fmt::format("{} exports {}: {} is linked into it",
                      evidence.name(runtime.node),
                      runtime.inside->symbol,
                      runtime.kind.empty() ? runtime.inside->family : runtime.kind));
    }
  }
}

std::vector<NodeId> parts(const Evidence& evidence,
                          std::string_view family,
                          std::string_view kind) {
  std::vector<NodeId> nodes;
  for (const NodeId node : evidence.objects()) {
    const auto known = family_of(evidence.file(node));
    if (known && known->name == family && known->kind == kind) {
      nodes.push_back(node);
    }
  }
  return nodes;
}

// Objects that need two of them: there symbol versions alone keep them apart.
std::vector<std::string> users_of_two(const Evidence& evidence, const std::vector<NodeId>& nodes) {
  std::vector<std::string> both;
  for (const NodeId user : evidence.objects()) {
    const auto used = std::count_if(nodes.begin(), nodes.end(), [&](NodeId node) {
      return needs(evidence.graph(), user, node);
    });
    if (used > 1) {
      both.push_back(evidence.name(user));
    }
  }
  return both;
}

void add_versions(const Evidence& evidence, const std::vector<NodeId>& nodes, Finding& finding) {
  for (const KnownVersion& version : evidence.facts().versions) {
    if (is_one_of(nodes, version.object) && !version.text.empty()) {
      finding.evidence.push_back(fmt::format(
          "{} is {} ({})", evidence.name(version.object), version.text, version.source));
    }
  }
}

}  // namespace

std::vector<Finding> duplicate_openmp(const Evidence& evidence) {
  const std::vector<Runtime> all = runtimes(evidence, "openmp");
  if (all.size() < 2) {
    return {};
  }
  std::set<std::string> kinds;
  std::vector<std::string> named;
  for (const Runtime& runtime : all) {
    kinds.insert(runtime.kind);
    named.push_back(fmt::format("{} ({}{})",
                                evidence.name(runtime.node),
                                runtime.kind,
                                runtime.inside == nullptr ? "" : ", linked into it"));
  }
  const auto nodes = nodes_of(all);
  const auto crossings = crossed(evidence, nodes);
  const bool clash = kinds.contains("LLVM") && kinds.contains("Intel");
  Finding finding = finding_about(
      evidence,
      "dup-openmp",
      clash ? Severity::error : Severity::warning,
      fmt::format("{} OpenMP runtimes are loaded: {}", all.size(), joined_by_and(named)),
      nodes);
  add_own(evidence, all, finding);
  add_crossings(evidence, crossings, finding);
  return {std::move(finding)};
}

std::vector<Finding> duplicate_openssl(const Evidence& evidence) {
  std::vector<Runtime> all;
  for (const Runtime& runtime : runtimes(evidence, "openssl")) {
    if (runtime.kind == "crypto") {
      all.push_back(runtime);
    }
  }
  const auto nodes = nodes_of(all);
  std::set<std::string> builds;
  for (const NodeId node : nodes) {
    builds.insert(build_of(evidence.file(node)));
  }
  if (builds.size() < 2) {
    return {};
  }
  auto either = nodes;  // libssl and libcrypto alike
  const auto ssl = parts(evidence, "openssl", "ssl");
  either.insert(either.end(), ssl.begin(), ssl.end());
  const auto crossings = crossed(evidence, either);
  const auto both = users_of_two(evidence, nodes);
  Finding finding = finding_about(evidence,
                                  "dup-openssl",
                                  !crossings.empty() ? Severity::error
                                  : both.empty()     ? Severity::note
                                                     : Severity::warning,
                                  fmt::format("{} builds of OpenSSL are loaded: {}",
                                              builds.size(),
                                              joined_by_and(names_of(evidence, nodes))),
                                  nodes);
  add_versions(evidence, nodes, finding);
  add_own(evidence, all, finding);
  add_crossings(evidence, crossings, finding);
  finding.evidence.push_back(both.empty() ? "no object needs two of them"
                                          : fmt::format("{} needs two of them", listed(both)));
  if (!evidence.facts().symbols) {
    finding.evidence.push_back("crossed symbols were not looked at: --findings does");
  } else if (crossings.empty()) {
    finding.evidence.push_back("no symbol of one goes to the other");
  }
  return {std::move(finding)};
}

std::vector<Finding> duplicates_inside(const Evidence& evidence) {
  std::set<std::string> families;
  for (const OwnRuntime& inside : evidence.facts().runtimes) {
    if (inside.family != "openmp" && inside.family != "openssl" && inside.family != "allocator") {
      families.insert(inside.family);
    }
  }
  std::vector<Finding> findings;
  for (const std::string& family : families) {
    const std::vector<Runtime> all = runtimes(evidence, family);
    std::vector<std::string> named;
    for (const Runtime& runtime : all) {
      named.push_back((runtime.inside == nullptr ? "" : "inside ") + evidence.name(runtime.node));
    }
    if (all.size() > 1) {
      Finding finding =
          finding_about(evidence,
                        "dup-library",
                        Severity::warning,
                        fmt::format("{} is there {} times: {}", family, all.size(), listed(named)),
                        nodes_of(all));
      add_own(evidence, all, finding);
      findings.push_back(std::move(finding));
    }
  }
  return findings;
}

}  // namespace tracso::findings
