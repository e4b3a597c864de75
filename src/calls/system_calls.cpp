#include "calls/system_calls.hpp"

#include "base/text.hpp"
#include "generated/call_prototypes.hpp"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <string_view>

namespace tracso::calls {
namespace {

// "2 int SYS_open(...)": number and rest; a line of another kind has no number.
std::pair<std::optional<std::uint64_t>, std::string_view> parts_of(std::string_view line) {
  const auto space = line.find(' ');
  const auto number =
      space == std::string_view::npos ? std::nullopt : parse_unsigned(line.substr(0, space));
  return {number, number ? line.substr(space + 1) : line};
}

std::map<std::uint64_t, std::string> read_names() {
  std::map<std::uint64_t, std::string> names;
  for (const auto line : split(system_call_table, '\n')) {
    const auto [number, rest] = parts_of(line);
    const auto space = rest.find(' ');
    const auto open = rest.find('(');
    if (number && space < open && open != std::string_view::npos) {
      names.emplace(*number, rest.substr(space + 1, open - space - 1));
    }
  }
  return names;
}

}  // namespace

std::string system_call_name(std::uint64_t number) {
  static const auto names = read_names();
  const auto found = names.find(number);
  return found == names.end() ? fmt::format("SYS_{}", number) : found->second;
}

std::string system_call_prototypes() {
  std::string text;
  for (const auto line : split(system_call_table, '\n')) {
    text.append(parts_of(line).second).push_back('\n');
  }
  return text;
}

}  // namespace tracso::calls
