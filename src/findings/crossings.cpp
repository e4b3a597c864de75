// Functions that are another library's than the caller was built to use.

#include "base/sizes.hpp"
#include "base/text.hpp"
#include "findings/families.hpp"
#include "findings/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace tracso::findings {
namespace {

using Severity = Finding::Severity;
using Pair = std::pair<NodeId, NodeId>;  // provider, promised

// These say it themselves.
bool has_rule_of_its_own(const ObjectFile& provider, const ObjectFile& promised) {
  const auto one = family_of(provider), other = family_of(promised);
  return one && other && one->name == other->name &&
         (one->name == "openssl" || one->name == "openmp");
}

bool is_same_library(const ObjectFile& one, const ObjectFile& other) {
  const auto family = family_of(one), other_family = family_of(other);
  return stem_of(one) == stem_of(other) ||
         (family && other_family && family->name == other_family->name &&
          family->kind == other_family->kind);
}

// A copy that nobody calls does no harm with its own calls.
bool is_idle(const Evidence& evidence, NodeId node, const std::vector<const Binding*>& bindings) {
  const auto& uses = evidence.facts().uses;
  const bool own = std::all_of(bindings.begin(), bindings.end(), [&](const Binding* binding) {
    return binding->object == node;
  });
  return own && std::any_of(uses.begin(), uses.end(), [&](const LibraryUse& use) {
           return use.node == node && use.needed_for_nothing;
         });
}

bool is_c_library(const ObjectFile& file) {
  const std::string stem = stem_of(file);
  return stem == "libc" || stem.starts_with("ld-linux") || stem.starts_with("ld-musl") ||
         stem == "libpthread";
}

// Functions of the C++ library that builders link into every object, for systems whose own lacks
// them: the first copy serves all. Two whole C++ libraries are another matter.
bool is_spare_cxx(const Evidence& evidence, const Binding& binding) {
  static constexpr std::array<std::string_view, 4> starts{"_ZSt", "_ZNSt", "_ZNKSt", "_ZNVSt"};
  const auto is_std = [&](std::string_view start) { return binding.symbol.starts_with(start); };
  const ObjectFile& provider = evidence.file(*binding.provider);
  const ObjectFile& promised = evidence.file(*binding.promised);
  return binding.version.empty() && std::any_of(starts.begin(), starts.end(), is_std) &&
         !is_same_library(provider, promised);
}

// One line for all of them: a process of wheels has dozens of such pairs.
Finding spare_cxx(const Evidence& evidence, const std::vector<const Binding*>& bindings) {
  std::set<NodeId> providers, others;
  for (const Binding* binding : bindings) {
    providers.insert(*binding->provider);
    others.insert(*binding->promised);
  }
  const std::vector<NodeId> serving(providers.begin(), providers.end());
  Finding finding = finding_about(evidence,
                                  "interposed",
                                  Severity::note,
                                  fmt::format("{} of the C++ library {} served by {}",
                                              counted(bindings.size(), "function"),
                                              bindings.size() == 1 ? "is" : "are",
                                              listed(names_of(evidence, serving))),
                                  serving);
  finding.evidence.push_back("also there: in " +
                             listed(names_of(evidence, {others.begin(), others.end()}), 8));
  add_crossings(evidence, bindings, finding);
  return finding;
}

}  // namespace

std::vector<Finding> interposed_functions(const Evidence& evidence) {
  std::map<Pair, std::vector<const Binding*>> pairs;
  std::vector<const Binding*> spare;
  for (const Binding& binding : evidence.facts().bindings) {
    if (binding.interposed && binding.usual.empty() && binding.provider && binding.promised) {
      auto& where =
          is_spare_cxx(evidence, binding) ? spare : pairs[{*binding.provider, *binding.promised}];
      where.push_back(&binding);
    }
  }
  std::vector<Finding> findings;
  if (!spare.empty()) {
    findings.push_back(spare_cxx(evidence, spare));
  }
  for (const auto& [pair, bindings] : pairs) {
    const ObjectFile& provider = evidence.file(pair.first);
    const ObjectFile& promised = evidence.file(pair.second);
    if (has_rule_of_its_own(provider, promised)) {
      continue;
    }
    const bool mixed =
        is_same_library(provider, promised) && build_of(provider) != build_of(promised);
    const bool idle = is_idle(evidence, pair.second, bindings);
    Finding finding = finding_about(evidence,
                                    "interposed",
                                    mixed && !idle ? Severity::error : Severity::note,
                                    fmt::format("{} of {} {} served by {}",
                                                counted(bindings.size(), "function"),
                                                evidence.name(pair.second),
                                                bindings.size() == 1 ? "is" : "are",
                                                evidence.name(pair.first)),
                                    {pair.first, pair.second});
    add_crossings(evidence, bindings, finding);
    if (idle) {
      finding.evidence.push_back("nobody calls that copy");
    }
    findings.push_back(std::move(finding));
  }
  return findings;
}

std::vector<Finding> several_allocators(const Evidence& evidence) {
  std::vector<NodeId> nodes;
  bool c_library = false;
  for (const NodeId node : evidence.facts().malloc_providers) {
    const bool c = is_c_library(evidence.file(node));
    if (!c || !c_library) {
      nodes.push_back(node);
    }
    c_library = c_library || c;
  }
  // A preload passes on to the C library what it does not do itself.
  const bool by_design = std::any_of(nodes.begin(), nodes.end(), [&](NodeId node) {
    return evidence.file(node).first_cause == "preload";
  });
  if (nodes.size() < 2) {
    return {};
  }
  return {finding_about(
      evidence,
      "allocators",
      by_design ? Severity::note : Severity::warning,
      fmt::format(
          "malloc is {} libraries': {}", nodes.size(), joined_by_and(names_of(evidence, nodes))),
      nodes)};
}

std::vector<Finding> unused_libraries(const Evidence& evidence) {
  std::vector<NodeId> nodes;
  std::vector<std::string> lines;
  std::uint64_t bytes = 0;
  for (const LibraryUse& use : evidence.facts().uses) {
    if (use.state == LibraryUse::State::not_called_so_far) {
      nodes.push_back(use.node);
      lines.push_back(fmt::format("{}: {}", evidence.name(use.node), use.reason));
      bytes += evidence.graph()[use.node].cost.file.value_or(0);
    }
  }
  if (nodes.empty()) {
    return {};
  }
  Finding finding = finding_about(evidence,
                                  "needed-unused",
                                  Severity::note,
                                  fmt::format("{} needed and not called so far ({}): {}",
                                              libraries_are(nodes.size()),
                                              size_text(bytes),
                                              listed(names_of(evidence, nodes))),
                                  nodes);
  constexpr std::size_t most_lines = 10;
  finding.evidence.assign(
      lines.begin(),
      lines.begin() + static_cast<std::ptrdiff_t>(std::min(most_lines, lines.size())));
  if (lines.size() > most_lines) {
    finding.evidence.push_back(
        fmt::format("and {} more: tracso --unused", lines.size() - most_lines));
  }
  return {std::move(finding)};
}

}  // namespace tracso::findings
