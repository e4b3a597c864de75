#include "render/report_parts.hpp"

#include "base/text.hpp"
#include "render/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace tracso {
namespace {

constexpr std::size_t cost_columns = 10;
constexpr std::size_t used_columns = 10;
constexpr std::size_t callers_columns = 28;  // of a terminal
// Columns of a terminal that suffice beside a name of 16.
constexpr std::size_t for_all = 70;
constexpr std::size_t without_bar = 52;
constexpr std::size_t without_counts = 40;

// "9999", "12.3k", "4.5M": calls of a second may be millions.
std::string short_count(std::uint64_t count) {
  constexpr std::uint64_t exact = 9999;
  if (count <= exact) {
    return std::to_string(count);
  }
  double value = static_cast<double>(count);
  std::string_view unit = "kMGT";
  value /= 1000;
  while (value >= 999.95 && unit.size() > 1) {
    value /= 1000;
    unit.remove_prefix(1);
  }
  return fmt::format("{:.1f}{}", value, unit.front());
}

std::string callers_text(const CalledLibrary& use) {
  constexpr std::size_t most = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(most, use.callers.size()); ++i) {
    text += (i == 0 ? "" : ", ") + printable(use.callers[i].name);
  }
  return use.callers.size() > most ? fmt::format("{}, +{}", text, use.callers.size() - most) : text;
}

}  // namespace

ReportParts::ReportParts(const RenderOptions& options, bool costs, ByteKind by, bool used)
    : unicode_(options.unicode), resident_(costs), private_(costs), uses_(used) {
  const std::size_t width = options.width;
  if (width == 0) {
    bar_beside_use_ = !used;  // the rest fits into 80 columns
    return;
  }
  const std::size_t beside = (costs ? 2 * cost_columns : 0) + (used ? used_columns : 0);
  uses_ = used && width >= without_counts + beside;
  callers_ = width >= for_all + beside + callers_columns;
  most_callers_ = callers_columns;
  bar_ = width >= for_all + beside;
  counts_ = width >= without_bar + beside;
  if (costs && width < without_counts + beside) {
    file_ = by == ByteKind::file;
    resident_ = by == ByteKind::resident;
    private_ = by == ByteKind::private_bytes;
  }
}

void ReportParts::add_file(Line& line, const std::string& size) const {
  if (file_) {
    line.add(" " + pad_left(size, 9));
  }
}

void ReportParts::add_bar(Line& line, double part) const {
  if (bar_) {
    line.add("  ").add(bar(part, unicode_), Style::cyan);
  }
}

void ReportParts::add_bar_beside_use(Line& line, double part) const {
  if (bar_beside_use_) {
    add_bar(line, part);
  }
}

void ReportParts::add_costs(Line& line,
                            const std::optional<std::uint64_t>& resident,
                            const std::optional<std::uint64_t>& private_bytes) const {
  if (resident_) {
    line.add(pad_left(size_or_dash(resident), cost_columns));
  }
  if (private_) {
    line.add(pad_left(size_or_dash(private_bytes), cost_columns));
  }
}

void ReportParts::add_use(Line& line, const CalledLibrary& use) const {
  if (use.called == 0) {
    line.add(pad_left(use.calls == 0 ? "-" : "calls out", used_columns),
             use.calls == 0 ? Style::dim : Style::plain);
    return;
  }
  line.add(pad_left(short_count(use.called), used_columns));
  if (callers_) {
    const auto text = "  by " + callers_text(use);
    line.add(most_callers_ == 0 ? text : cut_end(text, most_callers_, unicode_), Style::dim);
  }
}

std::string ReportParts::cost_titles() const {
  return std::string(resident_ ? "  resident" : "") + (private_ ? "   private" : "");
}

}  // namespace tracso
