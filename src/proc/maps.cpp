#include "proc/maps.hpp"

#include <fmt/format.h>

#include <sys/sysmacros.h>

#include <charconv>

namespace tracso::proc {
namespace {

// Takes an unsigned number and the one character that must follow it off the front.
bool take_number(std::string_view& line, int base, char then, std::uint64_t& value) {
  const auto [rest, error] = std::from_chars(line.data(), line.data() + line.size(), value, base);
  const auto used = static_cast<std::size_t>(rest - line.data());
  if (error != std::errc{} || used >= line.size() || *rest != then) {
    return false;
  }
  line.remove_prefix(used + 1);
  return true;
}

bool take_permissions(std::string_view& line, Mapping& mapping) {
  if (line.size() < 5 || line[4] != ' ' || (line[3] != 'p' && line[3] != 's')) {
    return false;
  }
  mapping.readable = line[0] == 'r';
  mapping.writable = line[1] == 'w';
  mapping.executable = line[2] == 'x';
  mapping.shared = line[3] == 's';
  line.remove_prefix(5);
  return true;
}

// The inode is followed by spaces up to column 73 and the name, or by nothing.
bool take_inode(std::string_view& line, Mapping& mapping) {
  const auto [rest, error] = std::from_chars(line.data(), line.data() + line.size(), mapping.inode);
  if (error != std::errc{}) {
    return false;
  }
  line.remove_prefix(static_cast<std::size_t>(rest - line.data()));
  if (!line.empty() && line.front() != ' ') {
    return false;
  }
  const std::size_t name = line.find_first_not_of(' ');
  line.remove_prefix(name == std::string_view::npos ? line.size() : name);
  return true;
}

// The kernel escapes a newline as \012 and nothing else (seq_file_path with "\n"), so a backslash
// may also be one.
std::string unescaped(std::string_view name) {
  std::string out;
  out.reserve(name.size());
  for (std::size_t i = 0; i < name.size();) {
    const bool newline = name.substr(i, 4) == "\\012";
    out += newline ? '\n' : name[i];
    i += newline ? 4 : 1;
  }
  return out;
}

void set_name(std::string_view name, Mapping& mapping) {
  constexpr std::string_view mark = " (deleted)";
  if (mapping.has_file() && name.ends_with(mark)) {
    mapping.deleted = true;
    name.remove_suffix(mark.size());
  }
  mapping.name = unescaped(name);
}

}  // namespace

std::optional<Mapping> parse_maps_line(std::string_view line) {
  Mapping mapping;
  std::uint64_t major = 0;
  std::uint64_t minor = 0;
  const bool ok = take_number(line, 16, '-', mapping.start) &&
                  take_number(line, 16, ' ', mapping.end) && take_permissions(line, mapping) &&
                  take_number(line, 16, ' ', mapping.offset) && take_number(line, 16, ':', major) &&
                  take_number(line, 16, ' ', minor) && take_inode(line, mapping);
  if (!ok || mapping.end < mapping.start) {
    return std::nullopt;
  }
  mapping.device = makedev(static_cast<unsigned>(major), static_cast<unsigned>(minor));
  set_name(line, mapping);
  return mapping;
}

Result<std::vector<Mapping>> parse_maps(std::string_view text) {
  std::vector<Mapping> mappings;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    ++number;
    auto mapping = parse_maps_line(line);
    if (!mapping) {
      return Error{ErrorKind::malformed,
                   "read",
                   "memory map",
                   fmt::format("line {} is not a mapping: '{}'", number, line.substr(0, 120)),
                   ""};
    }
    mappings.push_back(std::move(*mapping));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return mappings;
}

}  // namespace tracso::proc
