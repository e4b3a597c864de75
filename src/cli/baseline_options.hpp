#pragma once
// Baselines: the same options of the report and of `tracso stat`.

#include "cli/cli11_names.hpp"
#include "cli/leave.hpp"
#include "commands/stat_request.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tracso {

/// What CLI11 fills.
struct BaselineWords {
  std::string save, compare, regression;
  std::vector<std::string> tolerances;

  bool any() const { return !save.empty() || !compare.empty(); }
};

/// --save-baseline --baseline --fail-on-regression --tolerance; `group` is their headline.
void add_baseline_options(CLI::App& app, BaselineWords& words, const std::string& group);

/// usage: a tolerance that is none, or nothing to compare with.
std::optional<Leave> read_tolerances(const BaselineWords& words, Tolerances& into);

}  // namespace tracso
