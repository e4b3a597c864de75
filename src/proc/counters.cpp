#include "proc/counters.hpp"

#include "base/text.hpp"
#include "proc/status.hpp"

#include <limits>

namespace tracso::proc {
namespace {

std::optional<std::uint64_t> number_of(std::string_view text, std::string_view name) {
  const auto value = status_value(text, name);
  return value ? parse_unsigned(*value) : std::nullopt;
}

// "VmRSS:\t     120 kB"
std::optional<std::uint64_t> kilobytes_of(std::string_view status, std::string_view name) {
  const auto value = status_value(status, name);
  if (!value || !value->ends_with(" kB")) {
    return std::nullopt;
  }
  const auto number = parse_unsigned(trim(value->substr(0, value->size() - 3)));
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max() / 1024;
  return number && *number <= most ? std::optional(*number * 1024) : std::nullopt;
}

}  // namespace

std::optional<Statm> parse_statm(std::string_view text) {
  const auto fields = split_words(text, " \n");
  if (fields.size() < 2) {
    return std::nullopt;
  }
  const auto size = parse_unsigned(fields[0]);
  const auto resident = parse_unsigned(fields[1]);
  return size && resident ? std::optional(Statm{*size, *resident}) : std::nullopt;
}

MemoryStatus parse_memory_status(std::string_view status) {
  return {kilobytes_of(status, "VmHWM"),
          kilobytes_of(status, "VmRSS"),
          kilobytes_of(status, "RssAnon"),
          kilobytes_of(status, "VmSize"),
          kilobytes_of(status, "VmSwap")};
}

std::optional<Switches> parse_switches(std::string_view status) {
  const auto voluntary = number_of(status, "voluntary_ctxt_switches");
  const auto forced = number_of(status, "nonvoluntary_ctxt_switches");
  return voluntary && forced ? std::optional(Switches{*voluntary, *forced}) : std::nullopt;
}

std::optional<Io> parse_io(std::string_view text) {
  const auto read = number_of(text, "rchar");
  const auto written = number_of(text, "wchar");
  if (!read || !written) {
    return std::nullopt;
  }
  return Io{*read,
            *written,
            number_of(text, "read_bytes").value_or(0),
            number_of(text, "write_bytes").value_or(0)};
}

std::optional<CpuTicks> parse_cpu_ticks(std::string_view stat) {
  const std::size_t close = stat.rfind(')');
  if (close == std::string_view::npos) {
    return std::nullopt;
  }
  const auto fields = split_words(stat.substr(close + 1), " \n");
  constexpr std::size_t first = 11;  // utime, stime, cutime, cstime
  if (fields.size() < first + 4) {
    return std::nullopt;
  }
  const auto ticks = [&](std::size_t at) { return parse_unsigned(fields[first + at]).value_or(0); };
  return CpuTicks{ticks(0) + ticks(1), ticks(2) + ticks(3)};
}

std::optional<std::uint64_t> parse_descriptor_limit(std::string_view limits) {
  constexpr std::string_view name = "Max open files";
  for (const std::string_view line : split(limits, '\n')) {
    if (line.starts_with(name)) {
      const auto words = split_words(line.substr(name.size()), " ");
      return words.empty() ? std::nullopt : parse_unsigned(words.front());
    }
  }
  return std::nullopt;
}

}  // namespace tracso::proc
