#pragma once
// The sentences at the top of the report.

#include "tracso/answers.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tracso {

/// What weighs, and whose it is: a sentence of the report that describes and accuses nobody.
struct Weight {
  std::string code;  ///< "shared-by", "heavy-one", "orphan"
  std::string sentence;
  std::vector<NodeId> nodes;  ///< that it is about
};

/// At most one on the library that most packages load, the heaviest package, the orphans and the
/// largest library, in this order. `summary` must have its totals, packages, libraries and orphans.
std::vector<Weight> weights(const Trace& trace, const Summary& summary);

/// A finding of that code is told by the report in other words: as a weight, or in a notice.
bool is_told_elsewhere(std::string_view code);

struct Notable {
  std::vector<std::string> sentences;  ///< at most four
  std::size_t more_findings = 0;       ///< findings of the trace that found no room
};

/// Findings first (error, warning, note; then by the bytes they are about), then the weights.
Notable notable(const Trace& trace, const Summary& summary);

}  // namespace tracso
