#include "loader/musl_rules.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <array>

namespace tracso::loader {

bool is_musl_reserved(std::string_view name) {
  constexpr std::array<std::string_view, 7> reserved{
      "c.", "pthread.", "rt.", "m.", "dl.", "util.", "xnet."};
  return name.starts_with("lib") &&
         std::any_of(reserved.begin(), reserved.end(), [&](std::string_view part) {
           return name.substr(3).starts_with(part);
         });
}

std::vector<std::string> split_musl_path(std::string_view text) {
  std::vector<std::string> directories;
  for (const auto word : split_words(text, ":\n")) {
    directories.push_back(std::string(word) + "/");
  }
  return directories;
}

std::optional<std::string> expand_musl_rpath(std::string_view text, std::string_view origin) {
  constexpr std::string_view plain = "$ORIGIN";
  constexpr std::string_view braced = "${ORIGIN}";
  std::string out;
  while (!text.empty()) {
    const std::size_t length = text.starts_with(plain)    ? plain.size()
                               : text.starts_with(braced) ? braced.size()
                                                          : 0;
    if (length != 0) {
      out.append(origin);
      text.remove_prefix(length);
    } else if (text.front() == '$') {
      return std::nullopt;
    } else {
      const std::size_t end = std::min(text.find('$'), text.size());
      out.append(text.substr(0, end));
      text.remove_prefix(end);
    }
  }
  return out;
}

}  // namespace tracso::loader
