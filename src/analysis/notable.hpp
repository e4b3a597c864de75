#pragma once
// The sentences at the top of the report.

#include "tracso/answers.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace tracso {

struct Notable {
  std::vector<std::string> sentences;  ///< at most four
  std::size_t more_findings = 0;       ///< findings of the trace that found no room
};

/// Findings first (error, warning, note; then by the bytes they are about), then at most one
/// sentence each on the library most packages load, the heaviest package, the orphans and the
/// largest library. `summary` must have its totals, packages, libraries and orphans.
Notable notable(const Trace& trace, const Summary& summary);

}  // namespace tracso
