#pragma once
// What is wrong in a process, by rules that each name the parties and the evidence.

#include "tracso/answers.hpp"
#include "tracso/problem_facts.hpp"
#include "tracso/trace.hpp"

#include <span>
#include <string_view>
#include <vector>

namespace tracso {

/// One kind of finding, as --explain tells it.
struct FindingKind {
  std::string_view code;     ///< stable, for --fail-on and scripts: "dup-openmp"
  std::string_view summary;  ///< one line
  std::string_view meaning;  ///< what it is and why it hurts
  std::string_view what_to_do;
  /// It tells who weighs most and accuses nobody: gates by severity pass over it.
  bool describes = false;
};

/// In the order in which they are told where severity and bytes are equal.
std::span<const FindingKind> finding_kinds();
/// nullptr: no such code.
const FindingKind* find_finding_kind(std::string_view code);

/// Every finding that the graph and the facts give: without facts those of the graph alone, with
/// facts.symbols also crossed symbols. Worst first, then by the bytes of the files it is about.
std::vector<Finding> find_problems(const Trace& trace, const ProblemFacts& facts = {});

/// Who weighs most, who shares, what is nobody's, of a trace whose modules are grouped as they will
/// be printed: notes that accuse nobody.
std::vector<Finding> descriptions(const Trace& trace, const Summary& summary);

}  // namespace tracso
