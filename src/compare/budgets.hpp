#pragma once
// Limits of `tracso stat`, and a run compared with an earlier one.

#include "tracso/stat.hpp"

#include "compare/tolerance.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tracso {

/// A figure that has a name on the command line: --max-NAME, --tolerance NAME=.
struct FigureName {
  std::string_view name;
  std::optional<std::uint64_t> StatFigures::*figure;
  bool is_bytes = false;
};

/// peak, rss, dirty, fds, threads, children, libs: all that limits can be set for.
std::span<const FigureName> figure_names();

struct Leaks {
  bool fds = false, threads = false, children = false;

  bool any() const { return fds || threads || children; }
};

struct Limit {
  std::string name;  ///< of figure_names()
  std::uint64_t most = 0;
  std::string text;  ///< as written
};

/// What a run is held against.
struct Limits {
  std::vector<Limit> most;
  Leaks no_leaks;
  std::vector<std::string> denied;  ///< globs over names and paths of libraries
};

/// The middle of the runs, figure by figure; nullopt where one run does not know it.
StatFigures median_of(std::span<const StatFigures> runs);

/// How many descriptors, threads and children are left over by every run; by the last one if there
/// is only that.
struct LeakCounts {
  std::size_t fds = 0, threads = 0, children = 0;
};

LeakCounts leaks_of(const Stat& stat);
/// The smallest of each: what only some runs have is no leak.
LeakCounts least_of(std::span<const LeakCounts> runs);

/// One Budget per limit, kept or not; a limit on a figure that is not known fails and says so.
std::vector<Budget> check_limits(const Limits& limits,
                                 const StatFigures& figures,
                                 std::span<const LeakCounts> leaks,
                                 const Stat& last);

/// Tolerances by figure; what is not named has the default: dirty 1%+256K, rss and peak 5%+1MB,
/// counts 0.
struct Tolerances {
  std::optional<Tolerance> bytes;  ///< --fail-on-regression: of peak, rss and dirty
  std::vector<std::pair<std::string, Tolerance>> named;

  Tolerance of(const FigureName& figure) const;
};

/// The figures of now. `measurable` names those that this kind of look can tell: one of these that
/// is not known fails; empty: all.
struct Measured {
  StatFigures figures;
  std::vector<std::string_view> measurable;

  bool tells(std::string_view name) const;
};

/// One Budget per figure that the baseline knows and this look can tell, and one for libraries that
/// are new.
std::vector<Budget> check_baseline(const Baseline& baseline,
                                   const Tolerances& tolerances,
                                   const Measured& now,
                                   std::span<const std::string> libraries);

}  // namespace tracso
