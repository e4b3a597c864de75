#pragma once
// The options of `tracso stat`.

#include "cli/baseline_options.hpp"
#include "cli/cli11_names.hpp"
#include "cli/leave.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace tracso {

/// What CLI11 fills.
struct StatWords {
  AnswerWords answer;
  std::string pid;
  std::map<std::string, std::string> most;  ///< by figure name
  std::optional<std::string> no_leaks;      ///< given; "" for all
  std::optional<std::string> attribution;   ///< given; "" for the parts alone
  std::vector<std::string> denied;
  BaselineWords baseline;
  std::optional<std::size_t> runs;
  std::size_t warmups = 0;
  std::string after, watch_for, sample, junit, stream;
  bool children = false, reset_peak = false, used = false, no_ptrace = false, verbose = false;
  std::string stray;                 ///< of CMD's words one that is called like an option of ours
  std::vector<std::string> command;  ///< split off before CLI11 sees it
};

void add_stat(CLI::App& app, StatWords& words);

std::variant<CostRequest, Leave> stat_request(const StatWords& words);

}  // namespace tracso
