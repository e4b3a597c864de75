#include "proc/no_memory.hpp"

#include <fmt/format.h>

#include <string>

namespace tracso::proc {

std::string process_subject(std::int32_t pid, const ProcessStat& stat) {
  return stat.name.empty() ? std::to_string(pid) : fmt::format("{} ({})", pid, stat.name);
}

std::optional<Error> no_memory(std::string_view action, std::int32_t pid, const ProcessStat& stat) {
  const auto subject = process_subject(pid, stat);
  if (stat.kernel_thread()) {
    return Error{ErrorKind::denied,
                 std::string(action),
                 subject,
                 "a kernel thread has no program and no libraries",
                 ""};
  }
  if (stat.state == 'Z' || stat.state == 'X') {
    return Error{
        ErrorKind::not_found,
        std::string(action),
        subject,
        fmt::format("it has ended; only its exit status waits for its parent {} (a zombie)",
                    stat.parent),
        ""};
  }
  return std::nullopt;
}

std::optional<Error> no_memory(std::string_view action, const ProcessSource& process) {
  const auto text = process.read("stat");
  const auto stat = text ? parse_stat(*text) : std::nullopt;
  return stat ? no_memory(action, process.pid(), *stat) : std::nullopt;
}

}  // namespace tracso::proc
