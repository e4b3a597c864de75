#include "analysis/bytes.hpp"
#include "analysis/heaviest.hpp"
#include "analysis/static_program.hpp"
#include "base/sizes.hpp"
#include "base/text.hpp"
#include "render/forms.hpp"
#include "render/load_order.hpp"
#include "render/memory_section.hpp"
#include "render/not_found.hpp"
#include "render/report_parts.hpp"
#include "render/text/columns.hpp"
#include "render/text/wrap.hpp"
#include "render/why_text.hpp"
#include "render/words.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tracso {
namespace {

constexpr std::size_t package_name_columns = 32;
constexpr std::size_t library_name_columns = 40;
constexpr std::size_t notices_shown = 10;

class Report {
 public:
  Report(const RenderOptions& options, const Trace& trace, const Summary& summary)
      : options_(options),
        trace_(trace),
        summary_(summary),
        names_(trace, summary),
        costs_(options.costs || summary.by != ByteKind::file),
        parts_(options, costs_, summary.by, !summary.uses.empty()) {}

  std::string text() {
    header();
    notices();
    notable();
    if (summary_.totals.libraries == 0) {
      no_libraries();
    } else {
      packages();
      libraries();
    }
    if (summary_.by != ByteKind::file) {  // who asks for files has not asked for memory
      out_ += memory_section(options_, trace_, summary_.by);
    }
    out_ += not_found_section(options_, trace_);
    out_ += refused_section(options_, trace_, summary_);
    orphans();
    children();
    if (!is_statically_linked(trace_)) {  // nothing in it could be asked about
      hint();
    }
    return std::move(out_);
  }

 private:
  void header();
  void notices();
  void notable();
  void no_libraries();
  void packages();
  void libraries();
  void orphans();
  void children();
  void hint();

  std::string program() const;
  std::string outcome() const;
  void title(std::string_view text);
  std::size_t before_costs(std::size_t column, const std::vector<Row>& rows) const;
  void costs_title(std::string_view text, std::size_t before, const std::string& last);
  void more(std::size_t hidden, std::string_view what = "");

  TableLook look(std::size_t name_columns) const {
    return {name_columns, options_.width, options_.color, options_.unicode};
  }

  const RenderOptions& options_;
  const Trace& trace_;
  const Summary& summary_;
  DistinctNames names_;
  bool costs_;
  ReportParts parts_;
  std::string out_;
};

std::size_t rows_shown(std::size_t all, std::size_t limit) {
  return limit == 0 ? all : std::min(all, limit);
}

// Of a FILE the program is the label already.
std::string Report::program() const {
  const std::string& path =
      trace_.interpreter.empty() && trace_.process ? trace_.process->exe : trace_.interpreter;
  const std::string_view name = base_name(path);
  return name.empty() || name == trace_.target ? "" : fmt::format(" ({})", printable(name));
}

std::string Report::outcome() const {
  if (!trace_.command) {
    return "";
  }
  const std::string_view dot = glyphs(options_.unicode).dot;
  if (trace_.command->signal) {
    return fmt::format(" {} killed by {}", dot, signal_name(*trace_.command->signal));
  }
  if (trace_.command->exit_status.value_or(0) != 0) {
    return fmt::format(" {} exit {}", dot, *trace_.command->exit_status);
  }
  return "";
}

void Report::header() {
  const std::string_view dot = glyphs(options_.unicode).dot;
  const std::string line = fmt::format("tracso {0} {1}{2} {0} {3} {0} {4}",
                                       dot,
                                       printable(trace_.target),
                                       program(),
                                       counted(summary_.totals.libraries, "lib"),
                                       size_text(summary_.totals.file));
  const std::string end = outcome();
  if (options_.width != 0 && display_width(line + end) > options_.width) {
    const std::string lines = wrapped(line + end, {options_.width, 0, 2});
    out_ += paint(options_.color, Style::bold, lines) + "\n";
    return;
  }
  out_ += paint(options_.color, Style::bold, line);
  out_ += paint(options_.color, Style::red, end) + "\n";
}

void Report::notices() {
  const auto line = [&](std::string_view label, std::string_view text) {
    const WrapLook look{options_.width, label.size() + 1, 2};
    out_ += paint(options_.color, Style::yellow, label) + " ";
    out_ += wrapped(printable(text), look) + "\n";
  };
  if (trace_.partial) {
    line("Partial:", "the target ended while it was read; this is what was seen until then");
  }
  const std::size_t shown = std::min(trace_.notices.size(), notices_shown);
  for (std::size_t i = 0; i < shown; ++i) {
    const Notice& notice = trace_.notices[i];
    line("Notice:", notice.effect.empty() ? notice.text : notice.text + "; " + notice.effect);
  }
  if (shown < trace_.notices.size()) {
    line("Notice:", fmt::format("... and {} more: --json", trace_.notices.size() - shown));
  }
}

void Report::title(std::string_view text) {
  const std::string line = wrapped(text, {options_.width, 0, 2});
  out_ += "\n" + paint(options_.color, Style::bold, line) + "\n";
}

// Columns of the rows left of their costs, which end them; 0: there are no rows.
std::size_t Report::before_costs(std::size_t column, const std::vector<Row>& rows) const {
  constexpr std::size_t indent = 2;
  const auto narrowest = std::min_element(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return a.rest.width() < b.rest.width();
  });
  return rows.empty() ? 0 : indent + column + narrowest->rest.width() - parts_.cost_titles().size();
}

// The titles of the costs, and of what follows them, stand above their columns: `before` is what
// comes before the costs of a row.
void Report::costs_title(std::string_view text, std::size_t before, const std::string& last) {
  const std::string costs = parts_.cost_titles() + last;
  if (costs.empty() || before == 0) {
    title(text);
    return;
  }
  const std::string shown =
      options_.width == 0 ? std::string(text) : cut_end(text, before, options_.unicode);
  out_ += "\n" + paint(options_.color, Style::bold, pad_right(shown, before));
  out_ += paint(options_.color, Style::dim, costs) + "\n";
}

void Report::more(std::size_t hidden, std::string_view what) {
  if (hidden > 0) {
    out_ += paint(options_.color, Style::dim, fmt::format("  ... and {} more{}", hidden, what));
    out_ += '\n';
  }
}

void Report::notable() {
  if (summary_.notable.empty() && summary_.more_findings == 0) {
    return;
  }
  title("Notable");
  for (const std::string& sentence : summary_.notable) {
    out_ += "  * " + wrapped(printable(sentence), {options_.width, 4, 4}) + "\n";
  }
  if (summary_.more_findings > 0) {
    out_ += fmt::format("  +{} more: --findings\n", summary_.more_findings);
  }
}

void Report::no_libraries() {
  bool missing = false;
  bool program = false;
  bool dynamic = false;
  for (const Node& node : trace_.graph.nodes()) {
    missing = missing || is_missing(node);
    if (const ObjectFile* file = object(node); file != nullptr && !is_missing(node)) {
      program = true;
      dynamic = dynamic || !file->elf.interp.empty() || !file->elf.dynamic.needed.empty();
    }
  }
  if (!missing) {
    out_ += program && !dynamic ? "\nno shared libraries: statically linked\n"
                                : "\nno shared libraries were seen\n";
  }
}

// (unattributed / system) stands behind the last row whatever the limit.
void Report::packages() {
  const bool rest = !summary_.packages.empty() && !summary_.packages.back().source;
  const std::size_t owned = summary_.packages.size() - (rest ? 1 : 0);
  const std::size_t shown = rows_shown(owned, options_.limit_packages);
  std::vector<Row> rows;
  for (std::size_t i = 0; i < summary_.packages.size(); ++i) {
    if (i >= shown && i < owned) {
      continue;
    }
    const Package& package = summary_.packages[i];
    Row row{printable(package.name), {}, package.source ? Style::plain : Style::dim};
    parts_.add_file(row.rest, size_text(package.file));
    parts_.add_bar(row.rest, package.share);
    row.rest.add(fmt::format("  {:5.1f}%", package.share * 100));
    if (parts_.counts()) {
      const std::string count = "  (" + counted(package.libraries, "lib") + ")";
      row.rest.add(pad_right(count, costs_ ? 14 : 0));
    }
    parts_.add_costs(row.rest, package.resident, package.private_bytes);
    rows.push_back(std::move(row));
  }
  const std::size_t column = fitted_name_columns(rows, look(package_name_columns));
  costs_title("Heaviest packages", before_costs(column, rows), "");
  if (!rest) {
    out_ += table(rows, look(package_name_columns));
    more(owned - shown);
    return;
  }
  const std::vector<Row> last(rows.end() - 1, rows.end());
  rows.pop_back();
  out_ += table(rows, look(column));
  more(owned - shown);
  out_ += table(last, look(column));
}

// Who asked for a rank by memory gets the libraries in it; the others by who depends on them.
void Report::libraries() {
  const bool by_weight = summary_.by != ByteKind::file;
  const std::vector<DependedOn> libraries =
      by_weight ? heaviest_libraries(trace_, summary_) : summary_.libraries;
  const auto measure = [&](const DependedOn& library) {
    return by_weight ? bytes_of(trace_.graph[library.node].cost, summary_.by).value_or(0)
                     : std::uint64_t{library.in_degree};
  };
  const std::size_t shown = rows_shown(libraries.size(), options_.limit_libraries);
  std::uint64_t largest = 0;
  for (const DependedOn& library : libraries) {
    largest = std::max(largest, measure(library));
  }
  const bool used = parts_.uses();
  std::vector<Row> rows;
  std::vector<Row> heads;  // as far as the costs
  for (std::size_t i = 0; i < shown; ++i) {
    const DependedOn& library = libraries[i];
    const Node& node = trace_.graph[library.node];
    const double part =
        largest == 0 ? 0 : static_cast<double>(measure(library)) / static_cast<double>(largest);
    const std::string owners =
        library.packages == 0 ? "unattributed" : fmt::format("{} py", library.packages);
    Row row{names_(library.node), {}};
    parts_.add_file(row.rest, size_or_dash(node.cost.file));
    parts_.add_bar_beside_use(row.rest, part);
    row.rest.add(fmt::format("  in={:<3}", library.in_degree));
    if (parts_.counts()) {
      row.rest.add("  " + pad_right(owners, costs_ || used ? 12 : 0));
    }
    parts_.add_costs(row.rest, node.cost.resident, node.cost.private_bytes);
    heads.push_back({row.name, row.rest});
    if (used) {
      parts_.add_use(row.rest, summary_.uses[index(library.node)]);
    }
    row.rest.add(state_mark(object(node)->state), Style::yellow);
    rows.push_back(std::move(row));
  }
  const std::size_t names = used && options_.width == 0 ? 36 : library_name_columns;
  const std::size_t column = fitted_name_columns(rows, look(names));
  costs_title(!by_weight ? "Most depended-on libraries"
              : summary_.by == ByteKind::resident
                  ? "Libraries by resident memory, with size on disk"
                  : "Libraries by private memory, with size on disk",
              before_costs(column, heads),
              used ? "      used" : "");
  out_ += table(rows, look(names));
  more(libraries.size() - shown);
}

void Report::orphans() {
  if (summary_.orphans.empty()) {
    return;
  }
  title("Orphans (no Python origin, no .so parent)");
  const std::size_t shown = rows_shown(summary_.orphans.size(), options_.limit_orphans);
  std::vector<Row> rows;
  for (std::size_t i = 0; i < shown; ++i) {
    const Node& node = trace_.graph[summary_.orphans[i]];
    rows.push_back({names_(summary_.orphans[i]), {}});
    rows.back()
        .rest.add(" " + pad_left(size_or_dash(node.cost.file), 9))
        .add(state_mark(object(node)->state), Style::yellow);
  }
  out_ += table(rows, look(library_name_columns));
  more(summary_.orphans.size() - shown);
}

std::string beyond_text(const ChildInfo& child) {
  constexpr std::size_t most_names = 3;
  if (!child.libraries_beyond_parent) {
    return "was not looked at before it ended";
  }
  std::string text =
      counted(*child.libraries_beyond_parent, "library", "libraries") + " beyond the parent's";
  for (std::size_t i = 0; i < std::min(most_names, child.beyond.size()); ++i) {
    text += (i == 0 ? ": " : ", ") + printable(base_name(child.beyond[i]));
  }
  return text + (child.beyond.size() > most_names ? ", ..." : "");
}

void Report::children() {
  if (trace_.children.empty()) {
    return;
  }
  title("Children");
  const std::size_t shown = rows_shown(trace_.children.size(), options_.limit_orphans);
  std::vector<Row> rows;
  for (std::size_t i = 0; i < shown; ++i) {
    const ChildInfo& child = trace_.children[i];
    rows.push_back({fmt::format("{} {}", child.pid, printable(child.command)), {}});
    rows.back().rest.add("  " + beyond_text(child));
  }
  out_ += table(rows, look(library_name_columns));
  more(trace_.children.size() - shown, ": --limit 0");
}

void Report::hint() {
  const std::string_view dot = glyphs(options_.unicode).dot;
  const std::string line =
      fmt::format("Try: tracso --why <lib>  {0}  tracso --tree  {0}  tracso --json | jq", dot);
  const std::string shown = "\n" + wrapped(line, {options_.width, 0, 5});
  out_ += paint(options_.color, Style::dim, shown) + '\n';
}

}  // namespace

Result<std::string> ReportRenderer::trace(const Trace& trace, const Summary& summary) const {
  return Report(options_, trace, summary).text();
}

Result<std::string> ReportRenderer::why(const Trace& trace,
                                        const Summary& /*summary*/,
                                        const WhyAnswer& answer) const {
  return why_text(options_, trace, answer);
}

}  // namespace tracso
