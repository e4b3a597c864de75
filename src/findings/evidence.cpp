#include "findings/evidence.hpp"

#include "analysis/attribution.hpp"
#include "base/own_agent.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace tracso::findings {

Evidence::Evidence(const Trace& trace, const ProblemFacts& facts)
    : trace_(trace), facts_(facts), sources_(attribute(trace.graph)) {
  for (std::size_t i = 0; i < trace.graph.nodes().size(); ++i) {
    const ObjectFile* found = object(trace.graph.nodes()[i]);
    const bool there = found != nullptr && found->state != ObjectFile::State::missing &&
                       (found->loaded || !trace.process) && !is_own_agent(found->path.text);
    if (there) {
      objects_.push_back(static_cast<NodeId>(i));
    }
  }
}

std::vector<std::string> Evidence::owners(NodeId node) const {
  std::vector<std::string> names;
  for (const NodeId source : sources_[index(node)]) {
    names.push_back(display_name(trace_.graph[source]));
  }
  return names;
}

std::string Evidence::described(NodeId node) const {
  const ObjectFile& about = file(node);
  std::string text = name(node);
  if (!about.path.text.empty()) {
    text += fmt::format(" ({})", about.path.text);
  }
  const std::vector<std::string> names = owners(node);
  return names.empty() ? text : fmt::format("{}, of {}", text, listed(names));
}

Finding finding_about(const Evidence& evidence,
                      std::string_view code,
                      Finding::Severity severity,
                      std::string title,
                      const std::vector<NodeId>& nodes) {
  Finding finding;
  finding.code = std::string(code);
  finding.severity = severity;
  finding.title = std::move(title);
  finding.nodes = nodes;
  finding.confidence = "observed";
  std::set<std::string> owners;
  for (const NodeId node : nodes) {
    finding.evidence.push_back(evidence.described(node));
    for (std::string& owner : evidence.owners(node)) {
      owners.insert(std::move(owner));
    }
  }
  finding.owners.assign(owners.begin(), owners.end());
  return finding;
}

std::string listed(const std::vector<std::string>& names, std::size_t most) {
  std::vector<std::string> shown(
      names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(most, names.size())));
  const std::string text = join(shown, ", ");
  return shown.size() == names.size()
             ? text
             : fmt::format("{} and {} more", text, names.size() - shown.size());
}

std::string joined_by_and(const std::vector<std::string>& names) {
  if (names.size() < 2) {
    return names.empty() ? "" : names.front();
  }
  std::vector<std::string> first(names.begin(), names.end() - 1);
  return join(first, ", ") + " and " + names.back();
}

std::vector<std::string> names_of(const Evidence& evidence, const std::vector<NodeId>& nodes) {
  std::vector<std::string> names;
  names.reserve(nodes.size());
  for (const NodeId node : nodes) {
    names.push_back(evidence.name(node));
  }
  return names;
}

void add_crossings(const Evidence& evidence,
                   const std::vector<const Binding*>& bindings,
                   Finding& finding,
                   std::size_t most) {
  for (std::size_t i = 0; i < std::min(most, bindings.size()); ++i) {
    const Binding& binding = *bindings[i];
    finding.evidence.push_back(fmt::format(
        "{}{}{} of {} goes to {}, not to {}",
        binding.symbol,
        binding.version.empty() ? "" : "@",
        binding.version,
        evidence.name(binding.object),
        evidence.name(*binding.provider),
        binding.promised == binding.object ? "its own" : evidence.name(*binding.promised)));
  }
  if (bindings.size() > most) {
    finding.evidence.push_back(
        fmt::format("and {} more: tracso --bindings", bindings.size() - most));
  }
}

std::string build_of(const ObjectFile& file) {
  return file.elf.build_id.empty() ? fmt::format("{}:{}", file.device, file.inode)
                                   : file.elf.build_id;
}

std::string libraries_are(std::size_t count) {
  return counted(count, "library is", "libraries are");
}

}  // namespace tracso::findings
