#include "render/stat_text.hpp"

#include "analysis/descriptor_groups.hpp"
#include "base/sizes.hpp"
#include "base/text.hpp"
#include "render/attribution_text.hpp"
#include "render/descriptor_words.hpp"
#include "render/text/columns.hpp"
#include "render/text/sparkline.hpp"
#include "render/text/wrap.hpp"
#include "render/words.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tracso {
namespace {

constexpr std::size_t listed = 12;

std::string seconds_text(std::int64_t ns) {
  return fmt::format("{:.2f} s", static_cast<double>(ns) / 1e9);
}

class StatReport {
 public:
  StatReport(const RenderOptions& options, const Stat& stat) : options_(options), stat_(stat) {}

  std::string text() {
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

 private:
  // `lead` is plain text that stands before the rest in a colour of its own.
  void line(std::string_view label,
            const std::string& text,
            std::string_view lead = "",
            Style style = Style::plain) {
    const WrapLook look{options_.width, label_columns + display_width(lead), label_columns};
    out_ += paint(options_.color, Style::bold, pad_right(label, label_columns)) +
            paint(options_.color && !lead.empty(), style, lead) + wrapped(text, look) + "\n";
  }

  void header();
  void notices();
  void memory();
  void memory_change();
  void samples();
  void used();
  void libraries();
  void descriptors();
  void descriptor_list(const std::vector<Descriptor>& descriptors, std::string_view label);
  void threads();
  void children();
  void tree();
  void activity();
  void runs();
  void budgets();
  std::size_t heaviest_columns() const;

  bool is_one_look() const { return !stat_.command && !stat_.wall_ns; }  // of a running process

  std::string outcome() const;

  const RenderOptions& options_;
  const Stat& stat_;
  std::string out_;
};

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

std::string signed_size(std::uint64_t before, std::uint64_t after) {
  return (after < before ? "-" : "+") + size_text(after < before ? before - after : after - before);
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

std::string change_text(std::size_t before, std::size_t after) {
  return before == after  ? fmt::format("{} -> {}", before, after)
         : after > before ? fmt::format("{} -> {} (+{})", before, after, after - before)
                          : fmt::format("{} -> {} (-{})", before, after, before - after);
}

void StatReport::descriptors() {
  if (!stat_.descriptors) {
    line("fds",
         stat_.descriptor_count
             ? fmt::format("{} open; what they are is not known", *stat_.descriptor_count)
             : "not known");
    return;
  }
  const DescriptorChange& change = *stat_.descriptors;
  line("fds",
       is_one_look() ? fmt::format("{} open", change.after)
                     : change_text(change.before, change.after));
  descriptor_list(change.opened, "opened");
  descriptor_list(change.closed, "closed");
}

// Each by itself where they are few; else what is open how often.
void StatReport::descriptor_list(const std::vector<Descriptor>& descriptors,
                                 std::string_view label) {
  if (options_.limit_libraries == 0 || descriptors.size() <= listed) {
    for (const Descriptor& one : descriptors) {
      line("", fmt::format("{} {}", label, descriptor_phrase(one)));
    }
    return;
  }
  const auto groups = group_descriptors(descriptors);
  std::size_t untold = descriptors.size();
  for (std::size_t i = 0; i < std::min(groups.size(), listed); ++i) {
    const DescriptorGroup& group = groups[i];
    untold -= group.fds.size();
    line("",
         fmt::format("{} {}",
                     label,
                     group.fds.size() == 1 ? descriptor_phrase(*group.first)
                                           : printable(group_phrase(group))));
  }
  line(
      "",
      fmt::format(
          "{} {}--limit 0 lists each", label, untold == 0 ? "" : fmt::format("{} more; ", untold)));
}

void StatReport::threads() {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < stat_.threads.size() && i < listed; ++i) {
    names.push_back(printable(stat_.threads[i].name));
  }
  if (stat_.threads.size() > listed) {
    names.push_back(fmt::format("{} more", stat_.threads.size() - listed));
  }
  if (stat_.threads.empty()) {  // a process has one at least
    line("threads", "not known");
    return;
  }
  line("threads",
       fmt::format("{}   {}",
                   stat_.threads_before == 0 || is_one_look()
                       ? std::to_string(stat_.threads.size())
                       : change_text(stat_.threads_before, stat_.threads.size()),
                   join(names, ", ")));
}

void StatReport::children() {
  const auto zombies = std::count_if(stat_.children.begin(),
                                     stat_.children.end(),
                                     [](const ChildProcess& child) { return child.state == 'Z'; });
  const auto orphans = std::count_if(stat_.children.begin(),
                                     stat_.children.end(),
                                     [](const ChildProcess& child) { return child.orphan; });
  const ChildPeaks& peaks = stat_.child_peaks;
  const std::string largest =
      peaks.peak
          ? fmt::format(", largest peak {} ({})", size_text(*peaks.peak), printable(peaks.name))
          : "";
  line("children",
       fmt::format("{}{}, zombies {}, orphans {}{}",
                   stat_.children.size(),
                   stat_.command ? fmt::format(" left of {} started", stat_.children_born) : "",
                   zombies,
                   orphans,
                   largest));
  for (std::size_t i = 0; i < stat_.children.size() && i < listed; ++i) {
    const ChildProcess& child = stat_.children[i];
    line("",
         fmt::format("{} {} of {}{}{}",
                     child.pid,
                     printable(child.name),
                     child.parent,
                     child.state == 'Z' ? ", zombie"
                     : child.orphan     ? ", orphan"
                                        : "",
                     child.resident ? ", " + size_text(*child.resident) + " resident" : ""));
  }
}

void StatReport::tree() {
  if (!stat_.tree) {
    return;
  }
  const MemoryUse all = stat_.tree->memory.total();
  line("tree",
       fmt::format("{}   resident {}   private {}   dirty {}   fds {}   threads {}",
                   counted(stat_.tree->processes, "process", "processes"),
                   size_text(all.resident),
                   size_text(all.private_bytes),
                   size_text(all.dirty),
                   stat_.tree->descriptors,
                   stat_.tree->threads));
}

void StatReport::activity() {
  const Activity& done = stat_.activity;
  const auto count = [](const std::optional<std::uint64_t>& number) {
    return number ? std::to_string(*number) : "-";
  };
  line("io",
       fmt::format("read {}   written {}   from disk {}   to disk {}",
                   size_or_dash(done.read_bytes),
                   size_or_dash(done.written_bytes),
                   size_or_dash(done.disk_read_bytes),
                   size_or_dash(done.disk_written_bytes)));
  line("switches",
       fmt::format(
           "{} voluntary, {} forced", count(done.voluntary_switches), count(done.forced_switches)));
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

}  // namespace

std::string stat_text(const RenderOptions& options, const Stat& stat) {
  return StatReport(options, stat).text();
}

}  // namespace tracso
