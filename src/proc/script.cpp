#include "proc/script.hpp"

#include "base/text.hpp"

#include <array>
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
  line = line.substr(2, line.find('\n') - 2);
  std::vector<std::string> words;
  for (const std::string_view word : split_words(line, " \t\r")) {
    words.emplace_back(word);
  }
  return words;
}

}  // namespace tracso::proc
