#include "base/sizes.hpp"
#include "base/text.hpp"
#include "render/diff_forms.hpp"
#include "render/memory_section.hpp"
#include "render/text/columns.hpp"
#include "render/words.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tracso {
namespace {

constexpr std::size_t diff_name_columns = 40;

// "+1.2 MB", "-17 B"; "" where nothing is known or nothing has changed.
std::string growth(const BytesChange& bytes) {
  const std::uint64_t before = bytes.before.value_or(0);
  const std::uint64_t after = bytes.after.value_or(0);
  if (before == after || (!bytes.before && !bytes.after)) {
    return "";
  }
  return after > before ? "+" + size_text(after - before) : "-" + size_text(before - after);
}

class DiffReport {
 public:
  DiffReport(const RenderOptions& options, const TraceDiff& diff)
      : options_(options), diff_(diff) {}

  std::string text() {
    header();
    memory();
    libraries("Added", diff_.added, Style::green);
    libraries("Removed", diff_.removed, Style::red);
    libraries("Changed", diff_.changed, Style::yellow);
    packages();
    findings("Findings that appeared", diff_.appeared);
    findings("Findings that are gone", diff_.gone);
    if (is_empty()) {
      out_ += has_grown_ ? "\nLibraries, packages and findings are the same\n"
                         : "\nNo difference: the same libraries, packages and findings\n";
    }
    return std::move(out_);
  }

 private:
  bool is_empty() const {
    return diff_.added.empty() && diff_.removed.empty() && diff_.changed.empty() &&
           diff_.packages.empty() && diff_.appeared.empty() && diff_.gone.empty();
  }

  void header();
  void memory();
  void libraries(std::string_view title, const std::vector<LibraryChange>& changes, Style style);
  void packages();
  void findings(std::string_view title, const std::vector<Finding>& findings);

  void title(std::string_view text, std::size_t count) {
    out_ += "\n" + paint(options_.color, Style::bold, fmt::format("{} ({})", text, count)) + "\n";
  }

  std::size_t shown(std::size_t all) const {
    return options_.limit_libraries == 0 ? all : std::min(all, options_.limit_libraries);
  }

  void more(std::size_t all) {
    if (shown(all) < all) {
      out_ += fmt::format("  ... and {} more: --limit 0\n", all - shown(all));
    }
  }

  const RenderOptions& options_;
  const TraceDiff& diff_;
  std::string out_;
  bool has_grown_ = false;  // or shrunk: the memory of the process
};

void DiffReport::header() {
  const std::string_view dot = glyphs(options_.unicode).dot;
  const std::string_view arrow = options_.unicode ? "\xe2\x86\x92" : "->";
  const auto bytes = [&](std::string_view name, const BytesChange& change) {
    const bool known = change.before && change.after;
    const std::string grown = growth(change);
    return known ? fmt::format(" {} {} {} {} {}{}",
                               dot,
                               name,
                               size_text(*change.before),
                               arrow,
                               size_text(*change.after),
                               grown.empty() ? "" : " (" + grown + ")")
                 : "";
  };
  out_ += paint(options_.color,
                Style::bold,
                fmt::format("tracso {} diff {} {} {} {} {} {} {}",
                            dot,
                            printable(diff_.old_target),
                            arrow,
                            printable(diff_.new_target),
                            dot,
                            diff_.libraries_before,
                            arrow,
                            counted(diff_.libraries_after, "lib"))) +
          bytes("file", diff_.file) + bytes("resident", diff_.resident) +
          bytes("private", diff_.private_bytes) + "\n";
  for (const Notice& notice : diff_.notices) {
    out_ += paint(options_.color, Style::yellow, "Notice: ") + printable(notice.text) + "\n";
  }
}

// What the libraries take is in the first line; a process grows by its heap. Pages come and go
// between any two looks: what is below a hundredth is no news.
void DiffReport::memory() {
  if (!diff_.memory_before || !diff_.memory_after) {
    return;
  }
  constexpr std::uint64_t part = 100, least = 65536;
  const auto is_news = [](std::uint64_t before, std::uint64_t after) {
    const std::uint64_t change = std::max(before, after) - std::min(before, after);
    return change >= least && change >= std::max(before, after) / part;
  };
  const std::string_view arrow = options_.unicode ? "\xe2\x86\x92" : "->";
  std::vector<Row> rows;
  const auto add = [&](std::string_view name, const MemoryUse& before, const MemoryUse& after) {
    Row row{std::string(name), {}};
    row.rest.add(fmt::format("{:>10} {} {:>10}  {}",
                             size_text(before.private_bytes),
                             arrow,
                             size_text(after.private_bytes),
                             growth({before.private_bytes, after.private_bytes})));
    rows.push_back(std::move(row));
  };
  const MemoryUse then = diff_.memory_before->total();
  const MemoryUse now = diff_.memory_after->total();
  add("all private memory of the process", then, now);
  for (std::size_t i = 0; i < memory_class_count; ++i) {
    const MemoryUse& before = diff_.memory_before->uses[i];
    const MemoryUse& after = diff_.memory_after->uses[i];
    if (is_news(before.private_bytes, after.private_bytes)) {
      add("  " + std::string(class_words(static_cast<MemoryClass>(i))), before, after);
    }
  }
  has_grown_ = rows.size() > 1 || is_news(then.private_bytes, now.private_bytes);
  if (has_grown_) {
    out_ += "\n" + table(rows, {diff_name_columns, 0, options_.color, options_.unicode});
  }
}

void DiffReport::libraries(std::string_view name,
                           const std::vector<LibraryChange>& changes,
                           Style style) {
  if (changes.empty()) {
    return;
  }
  title(name, changes.size());
  std::vector<Row> rows;
  for (std::size_t i = 0; i < shown(changes.size()); ++i) {
    const LibraryChange& one = changes[i];
    Row row{printable(one.name), {}, style};
    row.rest.add(" " + pad_left(growth(one.file), 10) + "  ");
    if (one.old_path.empty() || one.new_path.empty()) {
      row.rest.add(printable(one.old_path.empty() ? one.new_path : one.old_path));
    } else if (one.old_path == one.new_path) {
      row.rest.add(fmt::format("{}: {}", printable(one.new_path), join(one.what, ", ")));
    } else {
      row.rest.add(fmt::format("{} {} {}  (same {})",
                               printable(one.old_path),
                               options_.unicode ? "\xe2\x86\x92" : "->",
                               printable(one.new_path),
                               one.how));
    }
    rows.push_back(std::move(row));
  }
  out_ += table(rows, {diff_name_columns, 0, options_.color, options_.unicode});
  more(changes.size());
}

void DiffReport::packages() {
  if (diff_.packages.empty()) {
    return;
  }
  title("Packages", diff_.packages.size());
  std::vector<Row> rows;
  for (std::size_t i = 0; i < shown(diff_.packages.size()); ++i) {
    const PackageChange& one = diff_.packages[i];
    rows.push_back({printable(one.name), {}});
    rows.back().rest.add(fmt::format(" {}  {} -> {}",
                                     pad_left(growth(one.file), 10),
                                     one.libraries_before,
                                     counted(one.libraries_after, "lib")));
  }
  out_ += table(rows, {diff_name_columns, 0, options_.color, options_.unicode});
  more(diff_.packages.size());
}

void DiffReport::findings(std::string_view name, const std::vector<Finding>& findings) {
  if (findings.empty()) {
    return;
  }
  title(name, findings.size());
  for (const Finding& finding : findings) {
    out_ += fmt::format("  * {} ({})\n", printable(finding.title), finding.code);
  }
}

}  // namespace

std::string diff_text(const RenderOptions& options, const TraceDiff& diff) {
  return DiffReport(options, diff).text();
}

}  // namespace tracso
