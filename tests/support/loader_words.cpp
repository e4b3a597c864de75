#include "support/loader_words.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace tracso::test {
namespace {

// "     4192:\tfile=NAME [0];  needed by REQUESTER [0]" -> "NAME [0]", "needed by REQUESTER [0]"
std::optional<std::pair<std::string, std::string>> statement(std::string_view line) {
  const std::size_t start = line.find("\tfile=");
  const std::size_t middle = line.find(";  ");
  if (start == std::string_view::npos || middle == std::string_view::npos) {
    return std::nullopt;
  }
  return std::pair(std::string(line.substr(start + 6, middle - start - 6)),
                   std::string(line.substr(middle + 3)));
}

std::string without_namespace(const std::string& name) {
  return name.substr(0, name.rfind(" ["));
}

}  // namespace

std::vector<ToldLoad> parse_loader_words(std::string_view text) {
  constexpr std::string_view needed = "needed by ";
  constexpr std::string_view opened = "dynamically loaded by ";
  std::map<std::string, std::pair<std::string, bool>> wanted;
  std::vector<ToldLoad> loads;
  bool generating = false;
  for (const std::string_view line : split(text, '\n')) {
    if (const auto said = statement(line)) {
      const auto& [file, what] = *said;
      if (what.starts_with(needed)) {
        wanted[file] = {without_namespace(what.substr(needed.size())), false};
      } else if (what.starts_with(opened)) {
        wanted[file] = {without_namespace(what.substr(opened.size())), true};
      } else if (what.starts_with("generating link map")) {
        const auto want = wanted.extract(file);
        loads.push_back({without_namespace(file),
                         0,
                         want ? want.mapped().first : "",
                         want && want.mapped().second,
                         false});
        generating = true;
      } else if (what.starts_with("destroying link map")) {
        // By its path now, whatever it was asked for by.
        const auto last = std::find_if(loads.rbegin(), loads.rend(), [&](const ToldLoad& load) {
          return !load.destroyed && base_name(load.file) == base_name(without_namespace(file));
        });
        if (last != loads.rend()) {
          last->destroyed = true;
        }
      }
    } else if (const std::size_t at = line.find("dynamic: 0x");
               generating && at != std::string_view::npos) {
      const std::string_view digits = line.substr(at + 11);
      loads.back().dynamic = parse_unsigned(digits.substr(0, digits.find(' ')), 16).value_or(0);
      generating = false;
    }
  }
  return loads;
}

}  // namespace tracso::test
