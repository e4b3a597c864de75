#include "proc/process_entry.hpp"

#include "base/text.hpp"
#include "proc/status.hpp"

namespace tracso::proc {
namespace {

constexpr std::size_t longest_command = 4096;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// "3.11" of "3.11-dbg", "3" of "3"; empty if it does not begin so.
std::string_view leading_version(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && (is_digit(text[end]) || text[end] == '.')) {
    ++end;
  }
  while (end > 0 && text[end - 1] == '.') {
    --end;
  }
  return text.substr(0, end);
}

// Of "python3.11", "python", "pypy3.10"; empty: another program.
std::string by_program(std::string_view exe) {
  std::string_view name = base_name(exe);
  if (name.ends_with(" (deleted)")) {
    name.remove_suffix(std::string_view(" (deleted)").size());
  }
  if (name.starts_with("pypy")) {
    return "PyPy";
  }
  constexpr std::string_view python = "python";
  if (!name.starts_with(python)) {
    return "";
  }
  const std::string_view version = leading_version(name.substr(python.size()));
  const std::string_view rest = name.substr(python.size() + version.size());
  const bool build = rest.empty() || rest.starts_with('-') || rest == "d" || rest == "t";
  return !build ? "" : version.empty() ? "yes" : std::string(version);
}

std::string by_library(std::string_view maps) {
  constexpr std::string_view library = "/libpython";
  for (auto at = maps.find(library); at != std::string_view::npos;
       at = maps.find(library, at + library.size())) {
    const std::string_view version = leading_version(maps.substr(at + library.size()));
    if (version.find('.') != std::string_view::npos) {  // libpython3.so only forwards
      return std::string(version);
    }
  }
  return maps.find("/libpypy") != std::string_view::npos ? "PyPy" : "";
}

}  // namespace

bool has_memory(std::string_view status) {
  return status_value(status, "VmRSS").has_value();
}

ProcessEntry parse_process_entry(std::int32_t pid,
                                 std::string_view status,
                                 std::string_view cmdline) {
  ProcessEntry entry;
  entry.pid = pid;
  entry.name = std::string(status_value(status, "Name").value_or(""));
  const auto resident = split_words(status_value(status, "VmRSS").value_or(""), " \t");
  if (!resident.empty()) {
    entry.resident_bytes = parse_unsigned(resident.front()).value_or(0) * 1024;
  }
  entry.command = join(parse_nul_list(cmdline.substr(0, longest_command)), " ");
  if (entry.command.empty()) {
    entry.command = "[" + entry.name + "]";
  }
  return entry;
}

std::string python_by_names(std::string_view exe, std::string_view maps) {
  const std::string program = by_program(exe);
  const bool whole = program.find('.') != std::string::npos || program == "PyPy";
  if (whole) {
    return program;
  }
  const std::string library = by_library(maps);
  return library.empty() ? program : library;
}

}  // namespace tracso::proc
