#include "pick/plain.hpp"

#include "base/sizes.hpp"
#include "base/text.hpp"
#include "render/text/columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <climits>

namespace tracso::pick {
namespace {

std::string row_text(std::size_t number, const proc::ProcessEntry& entry) {
  std::string line = fmt::format("{:>4}  {:>8}  {}  {:>9}  {}  ",
                                 number,
                                 entry.pid,
                                 pad_right(printable(entry.user), 10),
                                 size_text(entry.resident_bytes),
                                 pad_right(printable(entry.python), 6));
  if (!entry.container.empty()) {
    line += fmt::format("[{}] ", printable(entry.container));
  }
  return line + printable(entry.command);
}

void list(const Picker& picker, const PlainOptions& options) {
  const auto shown = picker.shown();
  const std::size_t rows = std::min(shown.size(), plain_rows);
  std::string out = "   #       PID  USER              RSS  PYTHON  COMMAND\n";
  for (std::size_t i = 0; i < rows; ++i) {
    const std::string line = row_text(i + 1, picker.entry(shown[i]));
    out += options.width == 0 ? line : cut_end(line, options.width, options.unicode);
    out += '\n';
  }
  if (rows < shown.size()) {
    out += fmt::format("... and {} more: a word shows those that have it\n", shown.size() - rows);
  }
  options.print(out);
}

// A number of the list; a larger one is a pid.
std::optional<std::int32_t> numbered(const Picker& picker, std::string_view answer) {
  const auto number = parse_unsigned(answer);
  if (!number || *number == 0 || *number > INT32_MAX) {
    return std::nullopt;
  }
  if (*number <= std::min(picker.shown().size(), plain_rows)) {
    return picker.entry(picker.shown()[*number - 1]).pid;
  }
  for (std::size_t i = 0; i < picker.total(); ++i) {
    if (picker.entry(i).pid == static_cast<std::int32_t>(*number)) {
      return picker.entry(i).pid;
    }
  }
  return std::nullopt;
}

}  // namespace

PlainAnswer choose_plainly(std::vector<proc::ProcessEntry> entries, const PlainOptions& options) {
  Picker picker(std::move(entries));
  list(picker, options);
  while (true) {
    options.print("number, PID, or words to filter (empty: none) > ");
    const auto line = options.read();
    if (!line) {
      options.print("\n");
      return {PlainEnd::no_answer, 0};
    }
    const std::string answer(trim(*line));
    if (answer.empty()) {
      return {PlainEnd::declined, 0};
    }
    if (const auto pid = numbered(picker, answer)) {
      return {PlainEnd::chosen, *pid};
    }
    picker.set_filter(answer);
    if (picker.shown().empty()) {
      options.print(fmt::format("nothing here matches '{}'\n", printable(answer)));
      picker.set_filter("");
      continue;
    }
    list(picker, options);
  }
}

}  // namespace tracso::pick
