#include "graph/json_fields.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace tracso {
namespace {

// How many bytes at `at` have to be escaped as one character; 0: none, they stand as they are.
std::size_t bytes_to_escape(std::string_view text, std::size_t at) {
  const auto byte = static_cast<unsigned char>(text[at]);
  if (byte == 0xc2 && at + 1 < text.size()) {  // U+0080 to U+00BF: the first half are controls
    return static_cast<unsigned char>(text[at + 1]) < 0xa0 ? 2 : 0;
  }
  return byte < 0x20 || byte == '"' || byte == '\\' || byte == 0x7f ? 1 : 0;
}

void append_utf8(std::string& into, std::string_view text) {
  std::size_t kept = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t bytes = bytes_to_escape(text, at);
    if (bytes == 0) {
      ++at;
      continue;
    }
    into.append(text, kept, at - kept);
    const auto code = static_cast<unsigned char>(text[at + bytes - 1]);  // of two the second is it
    fmt::format_to(std::back_inserter(into), "\\u{:04x}", code);
    at += bytes;
    kept = at;
  }
  into.append(text, kept);
}

}  // namespace

void append_json_text(std::string& into, std::string_view text) {
  into += '"';
  if (is_utf8(text)) {
    append_utf8(into, text);
  } else {
    append_utf8(into, to_utf8(text));
  }
  into += '"';
}

void JsonFields::bytes_of(std::string_view key, std::string_view bytes) {
  begin(key);
  append_json_text(into_, bytes);
  if (!is_utf8(bytes)) {
    begin(std::string(key) + "_hex");
    append_json_text(into_, hex(bytes));
  }
}

void JsonFields::texts(std::string_view key, const std::vector<std::string>& texts) {
  words(key, texts, [](const std::string& text) { return std::string_view(text); });
  if (!std::all_of(texts.begin(), texts.end(), is_utf8)) {
    words(std::string(key) + "_hex", texts, [](const std::string& text) { return hex(text); });
  }
}

}  // namespace tracso
