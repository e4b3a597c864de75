#include "render/attribution_text.hpp"

#include "base/sizes.hpp"
#include "base/text.hpp"
#include "render/text/columns.hpp"
#include "render/text/wrap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace tracso {
namespace {

constexpr std::size_t number_columns = 12, changed_name_columns = 18;
constexpr std::size_t most_rows = 10;

// "+1.2 MB", "-3.0 KB"; with one look only how much there is.
std::string bytes_text(const Change& change) {
  if (!change.before) {
    return size_text(change.after);
  }
  const bool less = change.after < *change.before;
  const std::uint64_t by = less ? *change.before - change.after : change.after - *change.before;
  return (less ? "-" : "+") + size_text(by);
}

std::string number_text(const Change& change) {
  if (!change.before) {
    return std::to_string(change.after);
  }
  return fmt::format(
      "{:+}", static_cast<std::int64_t>(change.after) - static_cast<std::int64_t>(*change.before));
}

std::string seconds(std::int64_t ns) {
  return fmt::format("{:.2f} s", static_cast<double>(ns) / 1e9);
}

// ", its last whole moment"; empty: an arbitrary one.
std::string_view moment_text(std::string_view moment) {
  return moment == "Py_FinalizeEx" ? ", when its Python was about to end"
         : moment == "exit stop"   ? ", the end of the process"
                                   : "";
}

bool has_grown(const Change& number, const Change& bytes) {
  return !number.before || number.after > *number.before || bytes.after > bytes.before.value_or(0);
}

class Lines {
 public:
  explicit Lines(const RenderOptions& options) : options_(options) {}

  void add(std::string_view label, const std::string& text) {
    out_ += paint(options_.color, Style::bold, pad_right(label, label_columns)) +
            wrapped(text, {options_.width, label_columns, label_columns + 2}) + "\n";
  }

  void part(std::string_view name, const Change& change, std::string_view says) {
    add("",
        pad_right(name, changed_name_columns) + pad_left(bytes_text(change), number_columns) +
            (says.empty() ? "" : "  " + std::string(says)));
  }

  void row(const Change& number, const Change& bytes, std::string_view name) {
    add("",
        pad_left(number_text(number), number_columns) +
            pad_left(bytes_text(bytes), number_columns) + "  " + printable(name));
  }

  // Those that grew (with one look: the largest), and how many more there are.
  template <class Row, class Show>
  void rows(const std::vector<Row>& all, Change Row::*number, const Show& show) {
    const auto grown = static_cast<std::size_t>(std::count_if(
        all.begin(), all.end(), [&](const Row& one) { return has_grown(one.*number, one.bytes); }));
    std::size_t shown = 0;
    for (const Row& one : all) {
      if (shown < limit() && has_grown(one.*number, one.bytes)) {
        row(one.*number, one.bytes, show(one));
        ++shown;
      }
    }
    if (grown > shown) {
      add("", fmt::format("{} more (--limit 0)", grown - shown));
    }
  }

  std::string text() { return std::move(out_); }

 private:
  std::size_t limit() const {
    return options_.limit_libraries == 0 ? SIZE_MAX : std::min(options_.limit_libraries, most_rows);
  }

  const RenderOptions& options_;
  std::string out_;
};

}  // namespace

std::string attribution_text(const RenderOptions& options, const Attribution& attribution) {
  Lines lines(options);
  const ResidentParts& parts = attribution.parts;
  const bool grew = attribution.first_ns.has_value();
  lines.add(grew ? "growth" : "filled by",
            fmt::format("resident {}{}{}",
                        bytes_text(parts.resident),
                        grew ? fmt::format(" from {} to {}",
                                           seconds(*attribution.first_ns),
                                           seconds(attribution.last_ns))
                             : "",
                        moment_text(attribution.last_moment)));
  if (parts.python_blocks) {
    lines.part(
        "Python's pools", parts.python, fmt::format("in use {}", bytes_text(*parts.python_blocks)));
  }
  lines.part("heap",
             parts.heap,
             parts.python_blocks ? "C code, Python's blocks over 512 bytes" : "malloc");
  lines.part("other anonymous", parts.other_anonymous, "large blocks, other allocators");
  lines.part("rest", parts.rest, "libraries, stacks, files, shared");
  if (!attribution.python_version.empty()) {
    lines.add("objects",
              fmt::format("{}, {} of what the collector of Python {} tracks (no str, bytes, int, "
                          "float)",
                          number_text(attribution.objects),
                          bytes_text(attribution.object_bytes),
                          attribution.python_version));
    lines.rows(
        attribution.types, &TypeChange::objects, [](const TypeChange& one) { return one.type; });
  }
  if (attribution.lines_known) {
    lines.add("lines", "blocks that tracemalloc of the program has, by the line that made them");
    lines.rows(attribution.lines, &LineChange::blocks, [](const LineChange& one) {
      return fmt::format("{}:{}", one.file, one.line);
    });
  }
  for (std::size_t i = 0; i < attribution.not_told.size(); ++i) {
    lines.add(i == 0 ? "not told" : "", printable(attribution.not_told[i]));
  }
  if (attribution.stopped.count() > 0) {
    lines.add("",
              fmt::format("it was held for {:.1f} ms to be read",
                          static_cast<double>(attribution.stopped.count()) / 1e6));
  }
  return lines.text();
}

}  // namespace tracso
