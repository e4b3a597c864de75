#include "support/python_truth.hpp"

#include "base/text.hpp"
#include "support/places.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tracso::test {
namespace {

// Modules of the standard library that bring more than 200 along, extensions among them.
const char* const many_modules[] = {
    "ssl",     "sqlite3",         "ctypes",      "lzma",          "bz2",
    "json",    "asyncio",         "email",       "http.client",   "xml.etree",
    "decimal", "unittest",        "logging",     "argparse",      "csv",
    "zipfile", "multiprocessing", "http.server", "xmlrpc.client", "concurrent.futures",
    "pdb",     "doctest",         "pydoc",       "readline",      "curses",
    "uuid",    "difflib"};

std::string unhex(std::string_view digits) {
  std::string bytes;
  for (std::size_t i = 0; digits != "''" && i + 1 < digits.size(); i += 2) {
    bytes += static_cast<char>(parse_unsigned(digits.substr(i, 2), 16).value());
  }
  return bytes;
}

std::string row_text(const PythonModule& module) {
  const auto text = printable(
      fmt::format("{} | {} | {}", module.name, module.file.value_or("(none)"), module.origin));
  return text.substr(0, 200);
}

}  // namespace

std::vector<std::string> truth_command(const std::string& program,
                                       const std::vector<std::string>& options,
                                       bool many) {
  std::vector<std::string> argv{program, test::tests_file("live/python_memory_truth.py")};
  argv.insert(argv.end(), options.begin(), options.end());
  if (many) {
    argv.insert(argv.end(), std::begin(many_modules), std::end(many_modules));
  }
  return argv;
}

std::optional<std::vector<PythonModule>> read_truth(Child& child) {
  std::vector<PythonModule> modules;
  while (const auto line = child.line()) {
    if (*line == "end") {
      return modules;
    }
    const auto words = split(*line, ' ');
    if (words.size() != 3) {
      return std::nullopt;
    }
    PythonModule module;
    module.name = unhex(words[0]);
    module.file = words[1] == "-" ? std::nullopt : std::optional(unhex(words[1]));
    module.origin = words[2] == "-" ? "" : unhex(words[2]);
    modules.push_back(std::move(module));
  }
  return std::nullopt;
}

std::string first_difference(const std::vector<PythonModule>& seen,
                             const std::vector<PythonModule>& truth) {
  for (std::size_t i = 0; i < std::max(seen.size(), truth.size()); ++i) {
    const bool same = i < seen.size() && i < truth.size() && seen[i] == truth[i];
    if (!same) {
      return fmt::format("row {}: seen {}, true {}",
                         i,
                         i < seen.size() ? row_text(seen[i]) : "(nothing)",
                         i < truth.size() ? row_text(truth[i]) : "(nothing)");
    }
  }
  return "";
}

}  // namespace tracso::test
