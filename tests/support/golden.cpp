#include "support/golden.hpp"

#include "base/text.hpp"
#include "support/places.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

namespace tracso::test {
namespace {

constexpr std::size_t shown_lines = 12;

std::optional<std::string> content(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return std::nullopt;
  }
  return std::string(std::istreambuf_iterator<char>(file), {});
}

std::string rewrite(const std::filesystem::path& path, std::string_view text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  return file ? "" : "cannot write " + path.string();
}

std::string difference(std::string_view expected, std::string_view text) {
  const auto old_lines = split(expected, '\n');
  const auto new_lines = split(text, '\n');
  std::string out;
  std::size_t shown = 0;
  for (std::size_t i = 0; i < std::max(old_lines.size(), new_lines.size()); ++i) {
    const bool old_has = i < old_lines.size();
    const bool new_has = i < new_lines.size();
    if (old_has && new_has && old_lines[i] == new_lines[i]) {
      continue;
    }
    if (++shown > shown_lines) {
      return out + "  ...\n";
    }
    out += "  line " + std::to_string(i + 1) + "\n";
    out += old_has ? "  - " + printable(old_lines[i]) + "\n" : "";
    out += new_has ? "  + " + printable(new_lines[i]) + "\n" : "";
  }
  return out;
}

}  // namespace

std::string golden_difference(std::string_view name, std::string_view text) {
  const std::filesystem::path path =
      std::filesystem::path(test::tests_file("")) / "golden" / std::string(name);
  if (std::getenv("TRACSO_UPDATE_GOLDEN") != nullptr) {
    return rewrite(path, text);
  }
  const auto expected = content(path);
  if (!expected) {
    return "no such golden file: " + path.string() + " (TRACSO_UPDATE_GOLDEN=1 makes it)";
  }
  if (*expected == text) {
    return "";
  }
  return std::string(name) + " differs\n" + difference(*expected, text);
}

}  // namespace tracso::test
