#pragma once
// --fail-on and --deny: what must not be, checked against a trace.

#include "tracso/answers.hpp"
#include "tracso/result.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tracso {

/// One condition of --fail-on.
struct Gate {
  enum class What : std::uint8_t { severity, code, file, resident, private_bytes, libraries };
  What what = What::severity;
  Finding::Severity severity = Finding::Severity::warning;  ///< this one or worse
  std::string code;
  std::uint64_t limit = 0;  ///< more than that fails; bytes or a number
  std::string text;         ///< as written
};

/// "finding>=warning,code:dup-openmp,file>500M,resident>200M,private>1G,libs>60"; K, M, G and T are
/// powers of 1024. usage: which condition is none, and what the forms are.
Result<std::vector<Gate>> parse_gates(std::string_view text);

/// Of a gate of kind severity or code: what it says of the first of these findings that it means;
/// empty: it means none of them.
std::string first_meant(const Gate& gate, const std::vector<Finding>& findings);

/// One line per gate that failed and per library that a pattern of `denied` (a glob over names and
/// paths) names. A gate whose figure was not measured fails and says so.
std::vector<std::string> failed_gates(const Trace& trace,
                                      const Summary& summary,
                                      const std::vector<Gate>& gates,
                                      const std::vector<std::string>& denied);

}  // namespace tracso
