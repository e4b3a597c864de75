#include "render/memory_section.hpp"

#include "base/sizes.hpp"
#include "render/text/columns.hpp"
#include "render/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

namespace tracso {
namespace {

constexpr std::size_t class_columns = 32;
constexpr std::size_t class_size_columns = 10;
// Columns of a terminal that suffice for all beside a name of 16.
constexpr std::size_t for_bar = 80, for_all_costs = 50;

class MemoryTable {
 public:
  MemoryTable(const RenderOptions& options, ByteKind by, const MemoryUse& total)
      : options_(options),
        by_(by),
        total_(total),
        bar_(options.width == 0 || options.width >= for_bar),
        all_(options.width == 0 || options.width >= for_all_costs) {}

  std::uint64_t ranked(const MemoryUse& use) const {
    return by_ == ByteKind::private_bytes ? use.private_bytes : use.resident;
  }

  Row row(std::string_view name, const MemoryUse& use, Style style) const {
    Row out{std::string(name), {}, style};
    for (const std::uint64_t bytes : shown(use)) {
      out.rest.add(pad_left(size_text(bytes), class_size_columns));
    }
    const std::uint64_t whole = ranked(total_);
    const double part =
        whole == 0 ? 0 : static_cast<double>(ranked(use)) / static_cast<double>(whole);
    if (bar_) {
      out.rest.add("  ").add(bar(part, options_.unicode), Style::cyan);
      out.rest.add(fmt::format("  {:5.1f}%", part * 100));
    }
    return out;
  }

  std::string titles() const {
    return all_                             ? "  resident   private     dirty"
           : by_ == ByteKind::private_bytes ? "   private"
                                            : "  resident";
  }

 private:
  std::vector<std::uint64_t> shown(const MemoryUse& use) const {
    return all_ ? std::vector{use.resident, use.private_bytes, use.dirty}
                : std::vector{ranked(use)};
  }

  const RenderOptions& options_;
  ByteKind by_;
  MemoryUse total_;
  bool bar_, all_;
};

std::vector<Row> rows_of(const MemoryTable& made, const MemoryByClass& memory) {
  std::vector<MemoryClass> order;
  for (std::size_t i = 0; i < memory_class_count; ++i) {
    const auto what = static_cast<MemoryClass>(i);
    if (memory[what].resident != 0) {
      order.push_back(what);
    }
  }
  std::stable_sort(order.begin(), order.end(), [&](MemoryClass one, MemoryClass other) {
    return made.ranked(memory[one]) > made.ranked(memory[other]);
  });
  std::vector<Row> rows;
  for (const MemoryClass what : order) {
    rows.push_back(made.row(class_words(what), memory[what], Style::plain));
  }
  rows.push_back(made.row("all", memory.total(), Style::bold));
  return rows;
}

}  // namespace

std::string_view class_words(MemoryClass what) {
  constexpr std::array<std::string_view, memory_class_count> words{"libraries and the program",
                                                                   "heap (malloc)",
                                                                   "Python objects",
                                                                   "stacks",
                                                                   "other mapped files",
                                                                   "shared memory",
                                                                   "other anonymous memory"};
  return words[static_cast<std::size_t>(what)];
}

std::string memory_section(const RenderOptions& options, const Trace& trace, ByteKind by) {
  if (!trace.memory) {
    return "";
  }
  const MemoryUse total = trace.memory->total();
  const MemoryTable made(options, by, total);
  const std::vector<Row> rows = rows_of(made, *trace.memory);
  const TableLook look{class_columns, options.width, options.color, options.unicode};
  constexpr std::size_t indent = 2;
  const std::size_t before = indent + fitted_name_columns(rows, look);
  const std::string title = options.width == 0
                                ? "Memory of the process"
                                : cut_end("Memory of the process", before, options.unicode);
  std::string out = "\n" + paint(options.color, Style::bold, pad_right(title, before));
  out += paint(options.color, Style::dim, made.titles()) + "\n" + table(rows, look);
  if (total.swapped != 0) {
    out += fmt::format("  swapped out: {}\n", size_text(total.swapped));
  }
  return out;
}

}  // namespace tracso
