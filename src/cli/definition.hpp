#pragma once
// The options as CLI11 knows them, and the words it fills.

#include "cli/calls_options.hpp"
#include "cli/cli11_names.hpp"
#include "cli/cost_options.hpp"
#include "cli/dump_options.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace tracso {

/// What CLI11 fills; turned into a Request afterwards.
struct Words {
  std::string target, output, why, pick_mode, color = "auto", probe = "auto", elf = "auto", from,
                                              root, at, by = "file", topic;
  bool tree = false, json = false, csv = false, findings = false, pick = false, pick_python = false,
       children = false, no_follow = false, verbose = false;
  std::size_t depth = 8, name_depth = 2;
  std::optional<std::size_t> limit;
  std::string timeout = "5";
  std::vector<std::string> run;
  bool has_run = false;
  std::string explain;
  std::string bindings, who;          ///< "*": --bindings without a name
  std::optional<double> count_calls;  ///< --calls: seconds
  bool unused = false, files = false, files0 = false;
  std::vector<std::string> as_child;
  std::vector<std::string> fail_on, denied;
  BaselineWords baseline;
  std::string record_pid, record_output;
  std::string run_in_help;  ///< stays empty
  CostWords costs;          ///< stay empty: those commands are parsed by themselves
  DumpWords dump;
  CallsWords calls;  ///< as costs
};

/// All options, commands and the help text, for a terminal of that many columns (0: none); `words`
/// must outlive the parsing.
void define_options(CLI::App& app, Words& words, std::size_t columns = 0);

/// Every option of ours as it is written, --run included.
std::vector<std::string> option_names(const CLI::App& app);

/// "--json", "-e", "TARGET": as messages name it, hidden from the help or not.
std::string message_name(const CLI::Option& option);

}  // namespace tracso
