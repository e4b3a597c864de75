#include "proc/status.hpp"

#include "base/text.hpp"

#include <algorithm>

namespace tracso::proc {

std::vector<std::string> parse_nul_list(std::string_view text) {
  std::vector<std::string> pieces;
  while (!text.empty()) {
    const std::size_t end = text.find('\0');
    pieces.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return pieces;
}

std::vector<std::pair<std::string, std::string>> parse_environment(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> entries;
  for (const auto& piece : parse_nul_list(text)) {
    const std::size_t equal = piece.find('=');
    if (equal != std::string::npos) {
      entries.emplace_back(piece.substr(0, equal), piece.substr(equal + 1));
    }
  }
  return entries;
}

bool is_environment_intact(std::string_view text) {
  if (text.empty()) {
    return true;
  }
  const auto pieces = parse_nul_list(text);
  return text.back() == '\0' && std::all_of(pieces.begin(), pieces.end(), [](const auto& piece) {
           const std::size_t equal = piece.find('=');
           return equal != std::string::npos && equal != 0;
         });
}

std::optional<ProcessStat> parse_stat(std::string_view text) {
  const std::size_t open = text.find('(');
  const std::size_t close = text.rfind(')');  // the last one: the name may hold others
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) {
    return std::nullopt;
  }
  const auto fields = split_words(text.substr(close + 1), " \n");
  constexpr std::size_t state = 0;
  constexpr std::size_t parent = 1;
  constexpr std::size_t flags = 6;
  constexpr std::size_t start_time = 19;
  if (fields.size() <= start_time) {
    return std::nullopt;
  }
  ProcessStat stat;
  stat.name = text.substr(open + 1, close - open - 1);
  stat.state = fields[state].front();
  stat.parent = static_cast<std::int32_t>(parse_signed(fields[parent]).value_or(0));
  stat.flags = parse_unsigned(fields[flags]).value_or(0);
  stat.start_time = parse_unsigned(fields[start_time]).value_or(0);
  return stat;
}

std::optional<std::string_view> status_value(std::string_view status, std::string_view name) {
  for (const std::string_view line : split(status, '\n')) {
    if (line.size() > name.size() && line.starts_with(name) && line[name.size()] == ':') {
      return trim(line.substr(name.size() + 1));
    }
  }
  return std::nullopt;
}

std::vector<std::int32_t> read_children(const ProcessSource& process) {
  std::vector<std::int32_t> children;
  const auto tasks = process.list("task");
  if (!tasks) {
    return children;
  }
  for (const auto& task : *tasks) {
    const auto text = process.read("task/" + task + "/children");
    if (!text) {
      continue;
    }
    for (const std::string_view word : split_words(*text, " \n")) {
      if (const auto pid = parse_unsigned(word); pid && *pid <= INT32_MAX) {
        children.push_back(static_cast<std::int32_t>(*pid));
      }
    }
  }
  std::sort(children.begin(), children.end());
  children.erase(std::unique(children.begin(), children.end()), children.end());
  return children;
}

}  // namespace tracso::proc
