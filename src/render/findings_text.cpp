#include "render/findings_text.hpp"

#include "analysis/notable.hpp"
#include "base/text.hpp"
#include "render/text/columns.hpp"
#include "render/text/wrap.hpp"
#include "render/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tracso {
namespace {

Style style_of(Finding::Severity severity) {
  switch (severity) {
    case Finding::Severity::error:
      return Style::red;
    case Finding::Severity::warning:
      return Style::yellow;
    case Finding::Severity::note:
      break;
  }
  return Style::plain;
}

std::string findings_line(const Trace& trace) {
  std::array<std::size_t, 3> counts{};
  for (const Finding& finding : trace.findings) {
    ++counts[static_cast<std::size_t>(finding.severity)];
  }
  return fmt::format("{}: {}, {}, {}",
                     printable(trace.target),
                     counted(counts[0], "error", "errors"),
                     counted(counts[1], "warning", "warnings"),
                     counted(counts[2], "note", "notes"));
}

std::string paragraph(const RenderOptions& options, const Finding& finding) {
  Line line;
  line.add(severity_word(finding.severity), style_of(finding.severity))
      .add("  " + printable(finding.code), Style::dim)
      .add("  ");
  std::string out = line.paint(options.color) + "  " +
                    wrapped(printable(finding.title), {options.width, line.width(), 2}) + "\n";
  constexpr std::size_t column = 12;
  const auto add = [&](std::string_view label, const std::string& text) {
    if (!text.empty()) {
      out += "  " + paint(options.color, Style::dim, pad_right(label, column - 2)) +
             wrapped(printable(text), {options.width, column, column}) + "\n";
    }
  };
  add("of", join(finding.owners, ", "));
  for (const std::string& evidence : finding.evidence) {
    add("seen", evidence);
  }
  add("try", finding.what_to_do);
  return out;
}

}  // namespace

std::string_view severity_word(Finding::Severity severity) {
  switch (severity) {
    case Finding::Severity::error:
      return "error";
    case Finding::Severity::warning:
      return "warning";
    case Finding::Severity::note:
      break;
  }
  return "note";
}

std::string findings_text(const RenderOptions& options, const Trace& trace) {
  const std::string first = wrapped(findings_line(trace), {options.width, 0, 2});
  std::string out = paint(options.color, Style::bold, first) + "\n";
  const bool nothing_wrong =
      std::all_of(trace.findings.begin(), trace.findings.end(), [](const Finding& finding) {
        return is_told_elsewhere(finding.code);
      });
  if (nothing_wrong) {
    // Off a terminal as on one of ordinary width.
    constexpr std::size_t columns = 101;
    const std::size_t room = options.width == 0 ? columns : std::min(options.width, columns);
    const std::string_view words = trace.findings.empty()
                                       ? "Nothing looks wrong."
                                       : "Nothing looks wrong. What follows describes (who weighs "
                                         "most, who shares), and accuses nobody.";
    out += wrapped(words, {room, 0, 0}) + "\n";
  }
  for (const Finding& finding : trace.findings) {
    out += "\n" + paragraph(options, finding);
  }
  return out;
}

std::string explained(const RenderOptions& options, const FindingKind& kind) {
  const WrapLook look{options.width, 0, 0};
  return fmt::format("{}: {}\n\n{}\n\n{}\n",
                     paint(options.color, Style::bold, kind.code),
                     kind.summary,
                     wrapped(kind.meaning, look),
                     wrapped(kind.what_to_do, look));
}

Result<std::string> FindingsRenderer::trace(const Trace& trace, const Summary& /*summary*/) const {
  return findings_text(options_, trace);
}

}  // namespace tracso
