#include "python/read_text.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

namespace tracso::python {

Result<std::string> read_text(const File& file, std::uint64_t most) {
  const auto status = file.status();
  if (!status) {
    return status.error();
  }
  std::string text(static_cast<std::size_t>(std::min(status->bytes, most)), '\0');
  std::size_t have = 0;
  while (have < text.size()) {
    const auto more = file.read_at(have, std::as_writable_bytes(std::span(text)).subspan(have));
    if (!more) {
      return more.error();
    }
    if (*more == 0) {
      break;
    }
    have += *more;
  }
  text.resize(have);
  return text;
}

void note_unread(UnreadFiles& unread, const std::string& path, const std::string& reason) {
  if (unread.count++ == 0) {
    unread.first = path + ": " + reason;
  }
}

}  // namespace tracso::python
