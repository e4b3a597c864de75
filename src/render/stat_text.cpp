#include "render/stat_text.hpp"

#include "base/sizes.hpp"
#include "base/text.hpp"
#include "render/attribution_text.hpp"
#include "render/stat_report.hpp"
#include "render/text/columns.hpp"
#include "render/text/sparkline.hpp"
#include "render/text/wrap.hpp"
#include "render/words.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tracso {
namespace {

std::string seconds_text(std::int64_t ns) {
  return fmt::format("{:.2f} s", static_cast<double>(ns) / 1e9);
}

std::string signed_size(std::uint64_t before, std::uint64_t after) {
  return (after < before ? "-" : "+") + size_text(after < before ? before - after : after - before);
}

}  // namespace

std::string StatReport::text() {
  header();
  notices();
  memory();
  samples();
  used();
  libraries();
  if (stat_.attribution) {
    out_ += attribution_text(options_, *stat_.attribution);
  }
  descriptors();
  threads();
  children();
  tree();
  activity();
  runs();
  budgets();
  return std::move(out_);
}

std::string StatReport::outcome() const {
  if (!stat_.command) {
    return "running";
  }
  if (stat_.command->signal) {
    return "killed by " + signal_name(*stat_.command->signal);
  }
  return stat_.command->exit_status ? fmt::format("exit {}", *stat_.command->exit_status)
                                    : "still running";
}

void StatReport::header() {
  const std::string_view dot = glyphs(options_.unicode).dot;
  std::vector<std::string> times;
  if (stat_.wall_ns) {
    times.push_back(seconds_text(*stat_.wall_ns) + " wall");
  }
  if (stat_.cpu_ns) {
    times.push_back(seconds_text(*stat_.cpu_ns) + " cpu");
  }
  if (stat_.children_cpu_ns.value_or(0) > 0) {
    times.push_back(seconds_text(*stat_.children_cpu_ns) + " cpu of children");
  }
  const std::string name(base_name(stat_.exe.empty() ? stat_.target : stat_.exe));
  const std::string text = fmt::format(
      "tracso {0} {1} (pid {2}) {0} {3} {0} {4}{5}{6}",
      dot,
      printable(name),
      stat_.pid,
      outcome(),
      join(times, ", "),
      times.empty() ? "" : fmt::format(" {} ", dot),
      stat_.libraries_known ? counted(stat_.libraries.count, "lib", "libs") : "libs not known");
  out_ += paint(options_.color, Style::bold, wrapped(text, {options_.width, 0, 2})) + "\n";
}

void StatReport::notices() {
  for (const Notice& notice : stat_.notices) {
    constexpr std::string_view label = "Notice: ";
    const std::string text = printable(notice.text) +
                             (notice.effect.empty() ? "" : "; " + printable(notice.effect)) +
                             (notice.try_.empty() ? "" : " (" + printable(notice.try_) + ")");
    out_ += paint(options_.color, Style::yellow, label) +
            wrapped(text, {options_.width, label.size(), 2}) + "\n";
  }
}

void StatReport::memory() {
  const std::string at = stat_.command && stat_.exact ? "at exit" : "now";
  line("memory",
       fmt::format("peak {}   {} {}   private {}   virtual {}",
                   size_or_dash(stat_.peak),
                   at,
                   size_or_dash(stat_.resident),
                   size_or_dash(stat_.private_bytes),
                   size_or_dash(stat_.virtual_)));
  if (!stat_.memory) {
    return;
  }
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < memory_class_count; ++i) {
    const MemoryUse& use = stat_.memory->uses[i];
    if (use.dirty != 0) {
      parts.push_back(fmt::format(
          "{} {}", memory_class_name(static_cast<MemoryClass>(i)), size_text(use.dirty)));
    }
  }
  line("", fmt::format("dirty {} ({})", size_text(stat_.memory->total().dirty), join(parts, ", ")));
  memory_change();
}

// Between the two looks of --for.
void StatReport::memory_change() {
  if (!stat_.memory_before) {
    return;
  }
  const MemoryUse before = stat_.memory_before->total();
  const MemoryUse after = stat_.memory->total();
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < memory_class_count; ++i) {
    const std::uint64_t was = stat_.memory_before->uses[i].private_bytes;
    const std::uint64_t is = stat_.memory->uses[i].private_bytes;
    if (was != is) {
      parts.push_back(fmt::format(
          "{} {}", memory_class_name(static_cast<MemoryClass>(i)), signed_size(was, is)));
    }
  }
  line("",
       fmt::format("in {} resident {}, private {}{}",
                   seconds_text(stat_.wall_ns.value_or(0)),
                   signed_size(before.resident, after.resident),
                   signed_size(before.private_bytes, after.private_bytes),
                   parts.empty() ? "" : " (" + join(parts, ", ") + ")"));
}

// One cell for each interval, its height the peak of it.
void StatReport::samples() {
  if (!stat_.samples) {
    return;
  }
  const MemorySamples& all = *stat_.samples;
  line("samples",
       fmt::format("{} of them; resident at most {} after {}, anonymous {} after {}",
                   all.count,
                   size_text(all.resident.bytes),
                   seconds_text(all.resident.at_ns),
                   size_text(all.anonymous.bytes),
                   seconds_text(all.anonymous.at_ns)));
  line("",
       fmt::format(
           "the longest gap was {:.1f} ms: what came and went within it is in the peak alone",
           static_cast<double>(all.longest_gap_ns) / 1e6));
  std::vector<double> peaks;
  for (const MemorySamples::Interval& interval : all.intervals) {
    peaks.push_back(static_cast<double>(interval.resident));
  }
  if (peaks.size() > 1) {
    line("",
         fmt::format("{}  each {:.0f} ms, its peak",
                     sparkline(peaks, peaks.size(), options_.unicode),
                     static_cast<double>(all.intervals[0].to_ns - all.intervals[0].from_ns) / 1e6));
  }
}

void StatReport::used() {
  if (!stat_.used) {
    return;
  }
  const WorkingSet& set = *stat_.used;
  line("used",
       fmt::format("{} of {} resident in {}; {} of {} of code untouched",
                   size_text(set.used),
                   size_text(set.resident),
                   seconds_text(set.window_ns),
                   set.untouched,
                   counted(set.libraries.size(), "file")));
  constexpr std::size_t most = 5;
  for (std::size_t i = 0; i < std::min(most, set.libraries.size()); ++i) {
    const WorkingSet::Library& library = set.libraries[i];
    if (library.used > 0) {
      line("",
           fmt::format("{:>9} of {:>9}  {}",
                       size_text(library.used),
                       size_text(library.resident),
                       printable(library.name)));
    }
  }
}

// Of the names of the heaviest libraries: what a terminal leaves beside the widest owners.
std::size_t StatReport::heaviest_columns() const {
  constexpr std::size_t usual = 34, least = 16;
  constexpr std::size_t beside = label_columns + 37 + 3;  // both figures, and before the owners
  std::size_t owners = 0;
  for (const HeavyLibrary& one : stat_.heaviest) {
    owners = std::max(owners, display_width(printable(join(one.owners, ", "))));
  }
  return options_.width == 0 ? usual
         : options_.width < beside + owners + least
             ? least
             : std::min(usual, options_.width - beside - owners);
}

void StatReport::libraries() {
  if (!stat_.libraries_known) {
    line("libraries", "not known");
    return;
  }
  const LibraryCosts& costs = stat_.libraries;
  const std::string_view arrow = options_.unicode ? "\xe2\x86\x92" : "->";
  line("libraries",
       fmt::format("on disk {} {} mapped {} {} resident {} {} private {}",
                   size_text(costs.file),
                   arrow,
                   size_or_dash(costs.mapped),
                   arrow,
                   size_or_dash(costs.resident),
                   arrow,
                   size_or_dash(costs.private_bytes)));
  const std::size_t name_columns = heaviest_columns();
  for (std::size_t i = 0; i < stat_.heaviest.size(); ++i) {
    const HeavyLibrary& one = stat_.heaviest[i];
    const std::string name = printable(one.name);
    line(
        i == 0 ? "heaviest" : "",
        fmt::format(
            "{} {} resident {} private{}{}",
            pad_right(options_.width == 0 ? name : cut_middle(name, name_columns, options_.unicode),
                      name_columns),
            pad_left(size_or_dash(one.resident), 9),
            pad_left(size_or_dash(one.private_bytes), 9),
            one.owners.empty() ? "" : "   ",
            printable(join(one.owners, ", "))));
  }
}

void StatReport::runs() {
  if (stat_.runs.size() < 2) {
    return;
  }
  const auto row = [&](std::string_view name, std::optional<std::uint64_t> StatFigures::*figure) {
    std::vector<std::string> texts;
    for (const StatFigures& run : stat_.runs) {
      texts.push_back(size_or_dash(run.*figure));
    }
    line(name, join(texts, "  "));
  };
  line("runs", fmt::format("{}; the last one stands above", stat_.runs.size()));
  row("  peak", &StatFigures::peak);
  row("  rss", &StatFigures::rss);
  row("  dirty", &StatFigures::dirty);
}

void StatReport::budgets() {
  for (std::size_t i = 0; i < stat_.budgets.size(); ++i) {
    const Budget& budget = stat_.budgets[i];
    line(i == 0 ? "budgets" : "",
         fmt::format(" {}{}: {}{}",
                     budget.name,
                     // of leaks none is ever allowed
                     budget.name.starts_with("no-leaks") ? "" : " " + printable(budget.limit),
                     printable(budget.text),
                     budget.remark.empty() ? "" : "; " + printable(budget.remark)),
         budget.ok ? "ok    " : "FAILED",
         budget.ok ? Style::green : Style::red);
  }
}

std::string stat_text(const RenderOptions& options, const Stat& stat) {
  return StatReport(options, stat).text();
}

}  // namespace tracso
