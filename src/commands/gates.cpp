#include "commands/gates.hpp"

#include "tracso/findings.hpp"

#include "base/sizes.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <fnmatch.h>

#include <algorithm>
#include <utility>

namespace tracso {
namespace {

constexpr std::string_view forms =
    "forms: finding>=warning, code:dup-openmp, file>500M, resident>200M, private>1G, libs>60";

Error wrong(std::string_view text, std::string reason) {
  return {ErrorKind::usage,
          "read the condition",
          std::string(text),
          std::move(reason),
          std::string(forms)};
}

std::optional<Finding::Severity> severity_of(std::string_view word) {
  using Severity = Finding::Severity;
  return word == "error"     ? std::optional(Severity::error)
         : word == "warning" ? std::optional(Severity::warning)
         : word == "note"    ? std::optional(Severity::note)
                             : std::nullopt;
}

std::optional<Gate::What> amount_of(std::string_view word) {
  using What = Gate::What;
  return word == "file"       ? std::optional(What::file)
         : word == "resident" ? std::optional(What::resident)
         : word == "private"  ? std::optional(What::private_bytes)
         : word == "libs"     ? std::optional(What::libraries)
                              : std::nullopt;
}

Result<Gate> parse_gate(std::string_view text) {
  Gate gate;
  gate.text = std::string(text);
  constexpr std::string_view by_severity = "finding>=";
  constexpr std::string_view by_code = "code:";
  if (text.starts_with(by_severity)) {
    const auto severity = severity_of(text.substr(by_severity.size()));
    gate.severity = severity.value_or(gate.severity);
    return severity ? Result<Gate>(gate) : wrong(text, "a severity is error, warning or note");
  }
  if (text.starts_with(by_code)) {
    gate.what = Gate::What::code;
    gate.code = std::string(text.substr(by_code.size()));
    return find_finding_kind(gate.code) != nullptr
               ? Result<Gate>(gate)
               : wrong(text, "there is no finding of that code; --explain list names them");
  }
  const auto sign = text.find('>');
  const auto what = sign == std::string_view::npos ? std::nullopt : amount_of(text.substr(0, sign));
  const auto amount = sign == std::string_view::npos ? "" : text.substr(sign + 1);
  const auto limit = what == Gate::What::libraries ? parse_unsigned(amount)
                     : what                        ? parse_size(amount)
                                                   : std::nullopt;
  if (!limit) {
    return wrong(text, what ? "no number stands behind the sign" : "it has none of the forms");
  }
  gate.what = *what;
  gate.limit = *limit;
  return gate;
}

std::string over(const Gate& gate,
                 const std::optional<std::uint64_t>& bytes,
                 std::string_view word) {
  if (!bytes) {
    return fmt::format("{}: {} bytes are not known", gate.text, word);
  }
  return *bytes > gate.limit
             ? fmt::format("{}: {} {}", gate.text, told_apart(gate.limit, *bytes).second, word)
             : "";
}

// Empty: it holds.
std::string failure(const Trace& trace, const Summary& summary, const Gate& gate) {
  switch (gate.what) {
    case Gate::What::severity:
    case Gate::What::code:
      return first_meant(gate, trace.findings);
    case Gate::What::file:
      return over(gate, summary.totals.file, "on disk");
    case Gate::What::resident:
      return over(gate, summary.totals.resident, "resident");
    case Gate::What::private_bytes:
      return over(gate, summary.totals.private_bytes, "private");
    case Gate::What::libraries:
      return summary.totals.libraries > gate.limit
                 ? fmt::format("{}: {}",
                               gate.text,
                               counted(summary.totals.libraries, "library", "libraries"))
                 : "";
  }
  return "";
}

bool is_denied(const Node& node, const std::string& pattern) {
  const std::string name = display_name(node);
  const std::string& path = object(node)->path.text;
  return ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0 ||
         ::fnmatch(pattern.c_str(), path.c_str(), 0) == 0 ||
         ::fnmatch(pattern.c_str(), std::string(base_name(path)).c_str(), 0) == 0;
}

}  // namespace

std::string first_meant(const Gate& gate, const std::vector<Finding>& findings) {
  for (const Finding& finding : findings) {
    const FindingKind* kind = find_finding_kind(finding.code);
    const bool accuses = kind == nullptr || !kind->describes;
    const bool meant = gate.what == Gate::What::code ? finding.code == gate.code
                                                     : accuses && finding.severity <= gate.severity;
    if (meant) {
      return fmt::format("{}: {} ({})", gate.text, finding.title, finding.code);
    }
  }
  return "";
}

Result<std::vector<Gate>> parse_gates(std::string_view text) {
  std::vector<Gate> gates;
  for (const std::string_view one : split(text, ',')) {
    auto gate = parse_gate(trim(one));
    if (!gate) {
      return gate.error();
    }
    gates.push_back(std::move(*gate));
  }
  return gates;
}

std::vector<std::string> failed_gates(const Trace& trace,
                                      const Summary& summary,
                                      const std::vector<Gate>& gates,
                                      const std::vector<std::string>& denied) {
  std::vector<std::string> lines;
  for (const Gate& gate : gates) {
    if (std::string line = failure(trace, summary, gate); !line.empty()) {
      lines.push_back(std::move(line));
    }
  }
  for (const std::string& pattern : denied) {
    for (const Node& node : trace.graph.nodes()) {  // those that came and went count too
      const bool there = is_counted(node) && !object(node)->path.text.empty() &&
                         object(node)->first_cause != "not reached";
      if (there && is_denied(node, pattern)) {
        lines.push_back(fmt::format(
            "--deny {}: {} ({})", pattern, display_name(node), object(node)->path.text));
      }
    }
  }
  const bool gated = !gates.empty() || !denied.empty();
  for (const Notice& notice : trace.notices) {
    if (gated && notice.code == "children-unseen") {
      lines.push_back(notice.text + ": what they loaded cannot be held against the limits");
    }
  }
  return lines;
}

}  // namespace tracso
