// Who weighs most, who shares, what is nobody's: the report says it in a sentence each, here it has
// a code.

#include "tracso/findings.hpp"

#include "analysis/notable.hpp"
#include "findings/evidence.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <utility>

namespace tracso {
namespace {

using findings::Evidence;

constexpr double heavy_resident = 0.50;

Finding told(const Evidence& evidence, const Weight& weight) {
  Finding finding;
  finding.code = weight.code;
  finding.title = weight.sentence;
  finding.confidence = "observed";
  constexpr std::size_t most = 6;
  for (const NodeId node : weight.nodes) {
    if (object(evidence.graph()[node]) == nullptr) {  // a package
      finding.owners.push_back(evidence.name(node));
      continue;
    }
    finding.nodes.push_back(node);
    if (finding.evidence.size() < most) {
      finding.evidence.push_back(evidence.described(node));
    }
  }
  if (finding.nodes.size() > most) {
    finding.evidence.push_back(fmt::format("and {} more", finding.nodes.size() - most));
  }
  if (finding.nodes.size() == 1) {
    finding.owners = evidence.owners(finding.nodes.front());
  }
  return finding;
}

// Nothing where the resident bytes of some library are not known.
std::optional<NodeId> heaviest_in_memory(const Trace& trace, const Summary& summary) {
  const std::optional<std::uint64_t> total = summary.totals.resident;
  if (!total) {
    return std::nullopt;
  }
  for (const DependedOn& library : summary.libraries) {
    const auto bytes = trace.graph[library.node].cost.resident;
    if (bytes && static_cast<double>(*bytes) > heavy_resident * static_cast<double>(*total)) {
      return library.node;
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<Finding> descriptions(const Trace& trace, const Summary& summary) {
  const ProblemFacts none;
  const Evidence evidence(trace, none);
  std::vector<Finding> all;
  for (const Weight& weight : weights(trace, summary)) {
    all.push_back(told(evidence, weight));
  }
  if (const auto heavy = heaviest_in_memory(trace, summary)) {
    all.push_back(findings::finding_about(
        evidence,
        "heavy-one",
        Finding::Severity::note,
        evidence.name(*heavy) + " has more than half of what libraries have in memory",
        {*heavy}));
  }
  for (Finding& finding : all) {
    finding.what_to_do = std::string(find_finding_kind(finding.code)->what_to_do);
  }
  return all;
}

}  // namespace tracso
