#include "compare/budgets.hpp"

#include "analysis/descriptor_groups.hpp"
#include "base/sizes.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tracso {
namespace {

constexpr std::array known_figures{FigureName{"peak", &StatFigures::peak, true},
                                   FigureName{"rss", &StatFigures::rss, true},
                                   FigureName{"dirty", &StatFigures::dirty, true},
                                   FigureName{"fds", &StatFigures::fds, false},
                                   FigureName{"threads", &StatFigures::threads, false},
                                   FigureName{"children", &StatFigures::children, false},
                                   FigureName{"libs", &StatFigures::libs, false}};

// Two figures that differ are never shown alike: "1M: 1.0 MB" would fail for no visible reason.
std::pair<std::string, std::string> shown(const FigureName& name,
                                          std::uint64_t one,
                                          std::uint64_t other) {
  return name.is_bytes ? told_apart(one, other)
                       : std::pair(std::to_string(one), std::to_string(other));
}

// "12 -> 14", "1.00 MB -> 1.04 MB"
std::string change_of(const FigureName& name,
                      std::uint64_t before,
                      const std::optional<std::uint64_t>& after) {
  const auto texts = shown(name, before, after.value_or(before));
  return fmt::format("{} -> {}", texts.first, after ? texts.second : "not known");
}

Budget leak_budget(std::string_view what, std::size_t count, std::string text) {
  return {fmt::format("no-leaks={}", what), "0", count, count == 0, std::move(text), ""};
}

std::string descriptor_list(const Stat& stat) {
  if (!stat.descriptors) {
    return "";
  }
  std::vector<std::string> texts;
  constexpr std::size_t most = 8;
  std::size_t untold = stat.descriptors->leaked.size();
  for (const DescriptorGroup& group : group_descriptors(stat.descriptors->leaked)) {
    if (texts.size() == most) {
      texts.push_back(fmt::format("{} more", untold));
      break;
    }
    texts.push_back(group_phrase(group));
    untold -= group.fds.size();
  }
  return join(texts, ", ");
}

// Where runs differ, only what every one of them left over counts.
std::string leak_text(std::size_t least,
                      std::size_t last,
                      std::size_t runs,
                      std::string_view list) {
  if (least == 0) {
    return last == 0 ? "none" : fmt::format("{} in the last run, but not in all {}", last, runs);
  }
  return fmt::format("{} left over{}{}", least, list.empty() ? "" : ": ", list);
}

// A process has one thread at least: without any it had ended before.
bool was_looked_at(const Stat& stat) {
  return !stat.threads.empty();
}

void fail_unseen(Budget& budget, const Stat& stat) {
  if (!was_looked_at(stat)) {
    budget.ok = false;
    budget.text = "not known: it ended before it could be looked at";
  }
}

void check_leaks(const Leaks& wanted,
                 std::span<const LeakCounts> runs,
                 const Stat& last,
                 std::vector<Budget>& out) {
  const LeakCounts least = least_of(runs);
  const LeakCounts now = leaks_of(last);
  if (wanted.fds) {
    out.push_back(leak_budget(
        "fds", least.fds, leak_text(least.fds, now.fds, runs.size(), descriptor_list(last))));
    if (!last.descriptors) {
      out.back().ok = false;
      out.back().text = "its descriptors could not be read";
    }
  }
  if (wanted.threads) {
    std::vector<std::string> list;
    for (std::size_t i = 1; i < last.threads.size(); ++i) {
      list.push_back(last.threads[i].name);
    }
    out.push_back(
        leak_budget("threads",
                    least.threads,
                    leak_text(least.threads, now.threads, runs.size(), join(list, ", "))));
    fail_unseen(out.back(), last);
  }
  if (wanted.children) {
    std::vector<std::string> list;
    for (const ChildProcess& child : last.children) {
      list.push_back(fmt::format("{} ({})", child.name, child.pid));
    }
    out.push_back(
        leak_budget("children",
                    least.children,
                    leak_text(least.children, now.children, runs.size(), join(list, ", "))));
    fail_unseen(out.back(), last);
  }
}

Budget check_denied(const std::string& pattern, const Stat& stat) {
  if (!stat.libraries_known) {
    return {"deny", pattern, std::nullopt, false, "its libraries are not known", ""};
  }
  Budget budget{"deny", pattern, std::nullopt, true, "no such library", ""};
  std::vector<std::string> found;
  for (const std::string& path : stat.library_names) {
    if (glob_match(pattern, path) || glob_match(pattern, base_name(path))) {
      found.push_back(path);
    }
  }
  budget.value = found.size();
  if (!found.empty()) {
    budget.ok = false;
    budget.text = join(found, ", ");
  }
  return budget;
}

// The peak is the command's own: what a child beside it reached must not go unsaid, nor, where the
// largest of all counts, that some were not seen.
std::string peak_remark(const Stat& stat) {
  const ChildPeaks& children = stat.child_peaks;
  std::vector<std::string> said;
  if (children.peak && children.peak > stat.peak) {
    const std::string whose = fmt::format("{} ({})", printable(children.name), children.pid);
    const std::string ended =
        children.ended == 0 ? "" : counted(children.ended, "child", "children") + " ended; ";
    said.push_back(stat.tree ? "reached by " + whose
                             : fmt::format("{}the largest, {}, reached {}, which is not in this: "
                                           "--children",
                                           ended,
                                           whose,
                                           size_text(*children.peak)));
  }
  if (children.not_seen > 0) {
    said.push_back(fmt::format("what {} reached was not seen",
                               counted(children.not_seen, "child", "children")));
  }
  return join(said, "; ");
}

// With --children the figures are those of the whole tree; sums that miss one are not known. Peaks
// are of different moments: the largest of one process stands for all.
void set_tree_figures(const Stat& stat, StatFigures& figures) {
  const TreeTotals& tree = *stat.tree;
  if (figures.peak && stat.child_peaks.peak) {
    figures.peak = std::max(*figures.peak, *stat.child_peaks.peak);
  }
  const MemoryUse all = tree.memory.total();
  const bool whole = tree.unread == 0;
  figures.rss = whole ? std::optional(all.resident) : std::nullopt;
  figures.dirty = whole ? std::optional(all.dirty) : std::nullopt;
  figures.fds = whole ? std::optional(tree.descriptors) : std::nullopt;
  figures.threads = whole ? std::optional(tree.threads) : std::nullopt;
}

Tolerance default_tolerance(std::string_view name) {
  if (name == "dirty") {
    return {1.0, std::uint64_t{256} << 10, "1%+256K"};
  }
  if (name == "rss" || name == "peak") {
    return {5.0, std::uint64_t{1} << 20, "5%+1MB"};
  }
  return {std::nullopt, 0, "0"};
}

}  // namespace

std::span<const FigureName> figure_names() {
  return known_figures;
}

StatFigures figures_of(const Stat& stat) {
  StatFigures figures;
  figures.peak = stat.peak;
  figures.rss = stat.resident;
  if (stat.memory) {
    figures.dirty = stat.memory->total().dirty;
  }
  if (stat.descriptors) {
    figures.fds = stat.descriptors->after;
  } else {
    figures.fds = stat.descriptor_count;
  }
  if (!stat.threads.empty()) {
    figures.threads = stat.threads.size();
  }
  if (stat.tree) {
    set_tree_figures(stat, figures);
  }
  if (was_looked_at(stat)) {
    figures.children = stat.children.size();
  }
  if (stat.libraries_known) {
    figures.libs = stat.libraries.count;
  }
  const auto positive = [](const std::optional<std::int64_t>& ns) {
    return ns && *ns >= 0 ? std::optional(static_cast<std::uint64_t>(*ns)) : std::nullopt;
  };
  figures.wall_ns = positive(stat.wall_ns);
  figures.cpu_ns = positive(stat.cpu_ns);
  return figures;
}

StatFigures median_of(std::span<const StatFigures> runs) {
  StatFigures out;
  const auto middle = [&](std::optional<std::uint64_t> StatFigures::*figure) {
    std::vector<std::uint64_t> values;
    for (const StatFigures& run : runs) {
      if (run.*figure) {
        values.push_back(*(run.*figure));
      }
    }
    if (values.empty() || values.size() != runs.size()) {
      return std::optional<std::uint64_t>();
    }
    std::sort(values.begin(), values.end());
    return std::optional(values[(values.size() - 1) / 2]);
  };
  for (const FigureName& name : known_figures) {
    out.*name.figure = middle(name.figure);
  }
  out.wall_ns = middle(&StatFigures::wall_ns);
  out.cpu_ns = middle(&StatFigures::cpu_ns);
  return out;
}

LeakCounts leaks_of(const Stat& stat) {
  LeakCounts counts;
  counts.fds = stat.descriptors ? stat.descriptors->leaked.size() : 0;
  counts.threads = stat.threads.size() -
                   std::min(stat.threads.size(), std::max<std::size_t>(1, stat.threads_before));
  counts.children = stat.children.size();
  return counts;
}

LeakCounts least_of(std::span<const LeakCounts> runs) {
  LeakCounts least = runs.empty() ? LeakCounts{} : runs.front();
  for (const LeakCounts& run : runs) {
    least.fds = std::min(least.fds, run.fds);
    least.threads = std::min(least.threads, run.threads);
    least.children = std::min(least.children, run.children);
  }
  return least;
}

std::vector<Budget> check_limits(const Limits& limits,
                                 const StatFigures& figures,
                                 std::span<const LeakCounts> leaks,
                                 const Stat& last) {
  std::vector<Budget> out;
  for (const Limit& limit : limits.most) {
    const auto name = std::find_if(known_figures.begin(),
                                   known_figures.end(),
                                   [&](const FigureName& one) { return one.name == limit.name; });
    const auto value = figures.*name->figure;
    out.push_back({"max-" + limit.name,
                   limit.text,
                   value,
                   value && *value <= limit.most,
                   value ? shown(*name, limit.most, *value).second : "not known",
                   name->name == "peak" ? peak_remark(last) : ""});
  }
  check_leaks(limits.no_leaks, leaks, last, out);
  for (const std::string& pattern : limits.denied) {
    out.push_back(check_denied(pattern, last));
  }
  return out;
}

Tolerance Tolerances::of(const FigureName& figure) const {
  for (const auto& [name, tolerance] : named) {
    if (name == figure.name) {
      return tolerance;
    }
  }
  return bytes && figure.is_bytes ? *bytes : default_tolerance(figure.name);
}

bool Measured::tells(std::string_view name) const {
  return measurable.empty() ||
         std::find(measurable.begin(), measurable.end(), name) != measurable.end();
}

std::vector<Budget> check_baseline(const Baseline& baseline,
                                   const Tolerances& tolerances,
                                   const Measured& now,
                                   std::span<const std::string> libraries) {
  std::vector<Budget> out;
  for (const FigureName& name : known_figures) {
    const auto before = baseline.figures.*name.figure;
    const auto after = now.figures.*name.figure;
    if (!before || !now.tells(name.name)) {
      continue;
    }
    const Tolerance tolerance = tolerances.of(name);
    out.push_back({fmt::format("regression:{}", name.name),
                   tolerance.text,
                   after,
                   after && tolerance.allows(*before, *after),
                   change_of(name, *before, after),
                   ""});
  }
  std::vector<std::string> added;
  for (const std::string& path : libraries) {
    const std::string name(base_name(path));
    if (!std::binary_search(baseline.libraries.begin(), baseline.libraries.end(), name)) {
      added.push_back(name);
    }
  }
  out.push_back({"regression:new-libs",
                 "0",
                 added.size(),
                 added.empty(),
                 added.empty() ? "none" : join(added, ", "),
                 ""});
  return out;
}

}  // namespace tracso
