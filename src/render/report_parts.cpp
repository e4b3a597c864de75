#include "render/report_parts.hpp"

#include "render/words.hpp"

namespace tracso {
namespace {

constexpr std::size_t cost_columns = 10;
// Columns of a terminal that suffice beside a name of 16.
constexpr std::size_t for_all = 70;
constexpr std::size_t without_bar = 52;
constexpr std::size_t without_counts = 40;

}  // namespace

ReportParts::ReportParts(const RenderOptions& options, bool costs, ByteKind by)
    : unicode_(options.unicode), resident_(costs), private_(costs) {
  const std::size_t width = options.width;
  if (width == 0) {
    return;
  }
  const std::size_t beside = costs ? 2 * cost_columns : 0;
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

std::string ReportParts::cost_titles() const {
  return std::string(resident_ ? "  resident" : "") + (private_ ? "   private" : "");
}

}  // namespace tracso
