#include "proc/script.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace tracso::proc {

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
  for (const std::string_view word : split_words(line, " \t\r")) {
    words.emplace_back(word);
  }
  return words;
}

Interpreter interpreter_of(const std::vector<std::string>& words) {
  const bool env = !words.empty() && base_name(words.front()) == "env";
  for (std::size_t i = env ? 1 : 0; i < words.size(); ++i) {
    if (!env || (!words[i].starts_with('-') && words[i].find('=') == std::string::npos)) {
      return {words[i], env && words[i].find('/') == std::string::npos};
    }
  }
  return {};
}

}  // namespace tracso::proc
