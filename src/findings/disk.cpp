// What runs against what lies on the disk now.

#include "findings/families.hpp"
#include "findings/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace tracso::findings {
namespace {

using Severity = Finding::Severity;
using State = ObjectFile::State;

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> starts) {
  return std::any_of(starts.begin(), starts.end(), [&](std::string_view start) {
    return text.starts_with(start);
  });
}

// Memory that never had a name on a disk says "(deleted)" too.
bool is_nameless(const ObjectFile& file) {
  return starts_with_any(file.path.text, {"/memfd:", "/dev/zero", "/SYSV", "/dev/shm/"});
}

std::vector<NodeId> of_state(const Evidence& evidence, State state) {
  std::vector<NodeId> nodes;
  for (const NodeId node : evidence.objects()) {
    if (evidence.file(node).state == state && !is_nameless(evidence.file(node))) {
      nodes.push_back(node);
    }
  }
  return nodes;
}

// An old libssl that goes on serving after its hole was mended.
bool guards_something(const ObjectFile& file) {
  const auto family = family_of(file);
  return (family && (family->name == "openssl" || family->name == "gnutls")) ||
         stem_of(file) == "libc";
}

std::vector<Finding> one(Finding finding) {
  std::vector<Finding> findings;
  findings.push_back(std::move(finding));
  return findings;
}

}  // namespace

std::vector<Finding> deleted_files(const Evidence& evidence) {
  const auto nodes = of_state(evidence, State::deleted);
  if (nodes.empty()) {
    return {};
  }
  return one(finding_about(evidence,
                           "deleted",
                           Severity::warning,
                           fmt::format("{} deleted on disk and still in use: {}",
                                       libraries_are(nodes.size()),
                                       listed(names_of(evidence, nodes))),
                           nodes));
}

std::vector<Finding> replaced_files(const Evidence& evidence) {
  const auto nodes = of_state(evidence, State::replaced);
  if (nodes.empty()) {
    return {};
  }
  const bool grave = std::any_of(nodes.begin(), nodes.end(), [&](NodeId node) {
    return guards_something(evidence.file(node));
  });
  return one(finding_about(
      evidence,
      "replaced",
      grave ? Severity::error : Severity::warning,
      fmt::format("{} older than what lies on the disk, as after an upgrade without a restart: {}",
                  libraries_are(nodes.size()),
                  listed(names_of(evidence, nodes))),
      nodes));
}

std::vector<Finding> rewritten_files(const Evidence& evidence) {
  const auto nodes = of_state(evidence, State::rewritten);
  if (nodes.empty()) {
    return {};
  }
  return one(finding_about(evidence,
                           "rewritten",
                           Severity::warning,
                           fmt::format("{} overwritten in place while in use: {}",
                                       libraries_are(nodes.size()),
                                       listed(names_of(evidence, nodes))),
                           nodes));
}

std::vector<Finding> temporary_libraries(const Evidence& evidence) {
  std::vector<NodeId> nodes;
  for (const NodeId node : evidence.objects()) {
    const ObjectFile& file = evidence.file(node);
    if (file.role == ObjectFile::Role::library &&
        starts_with_any(file.path.text, {"/tmp/", "/var/tmp/", "/dev/shm/", "/memfd:"})) {
      nodes.push_back(node);
    }
  }
  if (nodes.empty()) {
    return {};
  }
  // Who owns them and who else may write there is not looked at: no more than a note.
  Finding finding = finding_about(evidence,
                                  "tmp-library",
                                  Severity::note,
                                  fmt::format("{} loaded from a place for temporary files: {}",
                                              libraries_are(nodes.size()),
                                              listed(names_of(evidence, nodes))),
                                  nodes);
  constexpr std::size_t most_lines = 10;
  if (finding.evidence.size() > most_lines) {
    const std::size_t more = finding.evidence.size() - most_lines;
    finding.evidence.resize(most_lines);
    finding.evidence.push_back(fmt::format("and {} more", more));
  }
  return one(std::move(finding));
}

}  // namespace tracso::findings
