#include "render/text/wrap.hpp"

#include "base/text.hpp"

#include <algorithm>

namespace tracso {

std::string wrapped(std::string_view text, const WrapLook& look) {
  if (look.columns == 0 || look.first + display_width(text) <= look.columns) {
    return std::string(text);
  }
  std::string out;
  std::size_t used = look.first;
  bool bare = true;  // nothing of the text stands on this line yet
  while (!text.empty()) {
    const std::size_t blanks = std::min(text.find_first_not_of(' '), text.size());
    const std::size_t end = std::min(text.find(' ', blanks), text.size());
    const std::string_view word = text.substr(blanks, end - blanks);
    const std::size_t width = display_width(word);
    if (used + blanks + width > look.columns && (!bare || look.first > look.hang)) {
      out += "\n" + std::string(look.hang, ' ');
      used = look.hang;
    } else {
      out.append(text.substr(0, blanks));
      used += blanks;
    }
    out += word;
    used += width;
    bare = false;
    text.remove_prefix(end);
  }
  return out;
}

}  // namespace tracso
