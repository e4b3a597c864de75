#pragma once
// A trace and facts made by hand, and the finding that a rule raises of them.

#include "tracso/findings.hpp"

#include "support/build_trace.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tracso::test {

struct FindingCase {
  TraceBuilder build;
  ProblemFacts facts;

  FindingCase() {
    facts.looked = facts.symbols = true;
    facts.user = 1000;
  }

  NodeId library(const std::string& path, const std::string& build_id) {
    const NodeId node = build.library(path, 100);
    build.file(node).elf.build_id = build_id;
    return node;
  }

  void cross(NodeId object, NodeId provider, NodeId promised, const std::string& usual = "") {
    Binding binding;
    binding.object = object;
    binding.symbol = "f";
    binding.provider = provider;
    binding.promised = promised;
    binding.bound = binding.interposed = true;
    binding.usual = usual;
    facts.bindings.push_back(binding);
  }

  std::optional<Finding> raised(std::string_view code) const {
    const auto all = find_problems(build.trace, facts);
    const auto found = std::find_if(
        all.begin(), all.end(), [&](const Finding& finding) { return finding.code == code; });
    return found == all.end() ? std::nullopt : std::optional(*found);
  }
};

inline bool says(const Finding& finding, std::string_view part) {
  return std::any_of(finding.evidence.begin(),
                     finding.evidence.end(),
                     [&](const std::string& line) { return line.find(part) != std::string::npos; });
}

inline Place place(Place::What what, const std::string& path, NodeId node, std::uint32_t mode) {
  Place made;
  made.what = what;
  made.path = path;
  made.node = node;
  made.named_by = what == Place::What::search_path ? "RUNPATH" : "";
  made.mode = mode;
  return made;
}

}  // namespace tracso::test
