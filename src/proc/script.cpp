#include "proc/script.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace tracso::proc {
namespace {

// Options of env(1) whose value is the next word.
constexpr std::array<std::string_view, 6> with_value = {
    "-u", "--unset", "-C", "--chdir", "-a", "--argv0"};

// "-Spython3" and "--split-string=python3" begin what env splits itself.
std::string_view behind_split(std::string_view word) {
  constexpr std::string_view shortly = "-S", at_length = "--split-string=";
  const auto name = word.starts_with(shortly) ? shortly : at_length;
  return word.starts_with(name) ? word.substr(name.size()) : word;
}

}  // namespace

std::optional<std::vector<std::string>> script_words(const FileSystem& files,
                                                     const TargetPath& path) {
  const auto file = files.open(path);
  std::array<char, 256> head{};
  const auto got = file ? (*file)->read_at(0, std::as_writable_bytes(std::span(head)))
                        : Result<std::size_t>(file.error());
  std::string_view line(head.data(), got ? *got : 0);
  if (!line.starts_with("#!")) {
    return std::nullopt;
  }
  constexpr std::string_view ends("\n\0", 2);
  line = line.substr(2, std::min(line.find_first_of(ends), line.size()) - 2);
  std::vector<std::string> words;
  for (const std::string_view word : split_words(line, " \t")) {
    words.emplace_back(word);
  }
  return words;
}

Interpreter interpreter_of(const std::vector<std::string>& words) {
  const bool env = !words.empty() && base_name(words.front()) == "env";
  if (!env) {
    return {words.empty() ? "" : words.front(), false};
  }
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string_view word = behind_split(words[i]);
    if (std::find(with_value.begin(), with_value.end(), word) != with_value.end()) {
      ++i;
    } else if (!word.empty() && word.front() != '-' && word.find('=') == std::string_view::npos) {
      return {std::string(word), word.find('/') == std::string_view::npos};
    }
  }
  return {};
}

}  // namespace tracso::proc
