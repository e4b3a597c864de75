#pragma once
// The options of `tracso fds`, `tracso diff` and `tracso watch`.

#include "cli/cli11_names.hpp"
#include "cli/leave.hpp"

#include <string>
#include <variant>
#include <vector>

namespace tracso {

struct FdsWords {
  AnswerWords answer;
  std::string pid;
  bool queues = false, csv = false, verbose = false;
  std::string rate;
};

struct DiffWords {
  AnswerWords answer;
  std::string before, after;
  std::vector<std::string> fail_on;
  bool verbose = false;
};

struct WatchWords {
  AnswerWords answer;
  std::string pid, interval = "1", watch_for, stream, stream_format;
  bool children = false, verbose = false;
};

void add_fds(CLI::App& app, FdsWords& words);
void add_diff(CLI::App& app, DiffWords& words);
void add_watch(CLI::App& app, WatchWords& words);

std::variant<CostRequest, Leave> fds_request(const FdsWords& words);
std::variant<CostRequest, Leave> diff_request(const DiffWords& words);
std::variant<CostRequest, Leave> watch_request(const WatchWords& words);

}  // namespace tracso
