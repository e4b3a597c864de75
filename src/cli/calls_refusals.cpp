#include "cli/calls_refusals.hpp"

#include "cli/slips.hpp"

#include <fmt/format.h>

#include <utility>

namespace tracso {
namespace {

const char* why_from_outside(const CallsWords& words) {
  return words.system_calls            ? "-S"
         : !words.entry_points.empty() ? "-x"
         : !words.user.empty()         ? "-u"
                                       : "--engine ptrace";
}

}  // namespace

bool is_seen_from_outside(const CallsWords& words) {
  return words.system_calls || !words.entry_points.empty() || !words.user.empty();
}

std::optional<Leave> refused_for_tables(const CallsWords& words) {
  const CallsWords usual;
  const std::pair<bool, const char*> given[] = {
      {words.time != 0, "-t"},
      {words.relative, "-r"},
      {words.took, "-T"},
      {words.instruction, "-i"},
      {words.drop, "--drop"},
      {words.align.has_value(), "-a"},
      {words.indent != 0, "-n"},
      {!words.configurations.empty(), "-F"},
      {words.array_elements != usual.array_elements, "-A"},
      {words.text_bytes != usual.text_bytes, "-s"}};
  for (const auto& [is_given, name] : given) {
    if (is_given) {
      return usage(fmt::format("{} is about lines, and a table has none", name),
                   "without -c, --group, --exact, --count, --limit, --csv and -o x.json each call "
                   "is a line");
    }
  }
  return std::nullopt;
}

std::optional<Leave> refused_for_records(const CallsWords& words) {
  const std::pair<bool, const char*> given[] = {
      {words.relative, "-r"}, {words.align.has_value(), "-a"}, {words.indent != 0, "-n"}};
  for (const auto& [is_given, name] : given) {
    if (is_given) {
      return usage(fmt::format("{} is about lines for people, not about lines of JSON", name),
                   "each has time_ns, depth and duration_ns");
    }
  }
  return std::nullopt;
}

std::optional<Leave> refused_for_processes(const CallsWords& words, bool has_command) {
  if (words.processes.empty()) {
    return words.seconds ? std::optional(usage("-d is about a process that runs already",
                                               "tracso calls -p PID -d 10"))
                         : std::nullopt;
  }
  if (has_command) {
    return usage("-p and a command exclude each other", "tracso calls -p PID, or tracso calls CMD");
  }
  const bool only_calls = words.system_calls && words.expressions.empty() &&
                          words.libraries.empty() && words.caller.empty() && words.callee.empty();
  if (!words.entry_points.empty() || !words.user.empty() ||
      (words.engine == "ptrace" && !words.system_calls) || (words.system_calls && !only_calls)) {
    return usage(
        "of a process that runs already -S shows system calls alone: -x, -u and imported functions "
        "seen by ptrace are for a command",
        "tracso calls -S -p PID; without -S, -p shows the calls between libraries");
  }
  if (words.system_calls && words.processes.size() > 1) {
    return usage("-S is about one process at a time", "tracso calls -S -p PID");
  }
  if (words.follow) {
    return usage("-f: children of a process that runs already are not followed",
                 "-p PID for each of them; threads are always there");
  }
  return std::nullopt;
}

std::optional<Leave> refused_by_engine(const CallsWords& words) {
  const bool from_outside = is_seen_from_outside(words);
  if (words.engine == "agent" && from_outside) {
    return usage(fmt::format("{} works from outside only", why_from_outside(words)),
                 "leave --engine agent away");
  }
  if (words.engine != "ptrace" && !from_outside) {
    return std::nullopt;
  }
  const std::pair<bool, const char*> given[] = {
      {words.count, "--count"}, {words.intra, "--intra"}, {words.drop, "--drop"}};
  for (const auto& [is_given, name] : given) {
    if (is_given) {
      return usage(
          fmt::format(
              "{} is about the agent, and {} works without it", name, why_from_outside(words)),
          "leave it away");
    }
  }
  return std::nullopt;
}

}  // namespace tracso
