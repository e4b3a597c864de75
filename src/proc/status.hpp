#pragma once
// Small texts of /proc/PID -> facts: environ, cmdline, stat, status, task/*/children.

#include "tracso/target.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tracso::proc {

/// NUL-separated texts (cmdline; environ as NAME=VALUE). A last piece without its NUL is taken,
/// empty ones are kept in between.
std::vector<std::string> parse_nul_list(std::string_view text);

/// NAME and VALUE of each entry that has a '='.
std::vector<std::pair<std::string, std::string>> parse_environment(std::string_view text);

/// False where the bytes cannot be what the kernel put there at exec: a program that writes a title
/// over its arguments (setproctitle) often clears or fills the environment behind them too.
bool is_environment_intact(std::string_view text);

/// From stat (proc_pid_stat(5)); the name may hold spaces and parentheses.
struct ProcessStat {
  std::string name;
  char state = '?';  ///< R S D Z T t X
  std::int32_t parent = 0;
  std::uint64_t flags = 0;       ///< PF_KTHREAD is 0x00200000
  std::uint64_t start_time = 0;  ///< clock ticks after boot

  bool kernel_thread() const { return (flags & 0x00200000U) != 0; }
};

std::optional<ProcessStat> parse_stat(std::string_view text);

/// The value of a "Name:\tvalue" line of status; nullopt: no such line.
std::optional<std::string_view> status_value(std::string_view status, std::string_view name);

/// All direct children: the union of task/*/children, ascending. Empty where the kernel has no such
/// file.
std::vector<std::int32_t> read_children(const ProcessSource& process);

}  // namespace tracso::proc
