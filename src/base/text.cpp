#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <limits>
#include <numeric>

namespace tracso {
namespace {

struct CodePoint {
  char32_t value = 0;
  std::size_t bytes = 0;  // 0: not UTF-8
};

bool continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

std::size_t sequence_length(unsigned char lead) {
  if (lead < 0x80) {
    return 1;
  }
  if (lead >= 0xC2 && lead < 0xE0) {
    return 2;
  }
  if (lead >= 0xE0 && lead < 0xF0) {
    return 3;
  }
  return lead >= 0xF0 && lead < 0xF5 ? 4 : 0;
}

// Strict: no overlong forms, no surrogates, nothing above U+10FFFF.
CodePoint decode(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t length = sequence_length(lead);
  if (length == 0 || text.size() < length) {
    return {};
  }
  if (length == 1) {
    return {lead, 1};
  }
  char32_t value = lead & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if (!continuation(text[i])) {
      return {};
    }
    value = value << 6U | (static_cast<unsigned char>(text[i]) & 0x3FU);
  }
  constexpr std::array<char32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (value < least[length] || surrogate || value > 0x10FFFF) {
    return {};
  }
  return {value, length};
}

bool is_bidi_control(char32_t c) {
  return (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) || c == 0x200E ||
         c == 0x200F || c == 0x061C;
}

bool is_unsafe(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x2028 || c == 0x2029 || is_bidi_control(c);
}

void append_escape(std::string& out, unsigned char byte) {
  constexpr std::string_view digits = "0123456789abcdef";
  out += "\\x";
  out += digits[byte >> 4U];
  out += digits[byte & 15U];
}

void append_escaped(std::string& out, std::string_view bytes) {
  if (bytes == "\n") {
    out += "\\n";
  } else if (bytes == "\t") {
    out += "\\t";
  } else {
    for (const char c : bytes) {
      append_escape(out, static_cast<unsigned char>(c));
    }
  }
}

bool is_wide(char32_t c) {
  return (c >= 0x1100 && c <= 0x115F) || (c >= 0x2E80 && c <= 0xA4CF && c != 0x303F) ||
         (c >= 0xAC00 && c <= 0xD7A3) || (c >= 0xF900 && c <= 0xFAFF) ||
         (c >= 0xFE30 && c <= 0xFE6F) || (c >= 0xFF00 && c <= 0xFF60) ||
         (c >= 0xFFE0 && c <= 0xFFE6) || (c >= 0x1F300 && c <= 0x1F64F) ||
         (c >= 0x1F900 && c <= 0x1F9FF) || (c >= 0x20000 && c <= 0x3FFFD);
}

bool is_zero_width(char32_t c) {
  return (c >= 0x0300 && c <= 0x036F) || (c >= 0x200B && c <= 0x200D) ||
         (c >= 0xFE00 && c <= 0xFE0F) || c == 0xFEFF || (c >= 0x20D0 && c <= 0x20FF);
}

// How many bytes at the front are ASCII: names and paths are, nearly all, and need no decoding.
std::size_t ascii_prefix(std::string_view bytes) {
  std::size_t count = 0;
  for (; bytes.size() - count >= sizeof(std::uint64_t); count += sizeof(std::uint64_t)) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, bytes.data() + count, sizeof eight);
    if ((eight & 0x8080808080808080U) != 0) {
      break;
    }
  }
  while (count < bytes.size() && static_cast<unsigned char>(bytes[count]) < 0x80) {
    ++count;
  }
  return count;
}

// Two neighbours that have changed places are one slip, not two.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> two_before, before(b.size() + 1), row(b.size() + 1);
  std::iota(before.begin(), before.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = before[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({before[j] + 1, row[j - 1] + 1, change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], two_before[j - 2] + 1);
      }
    }
    two_before = before;
    std::swap(before, row);
  }
  return before[b.size()];
}

// One [..] of a pattern; the rest of the pattern behind it, or npos where the bracket never closes.
std::size_t match_bracket(std::string_view pattern, char c, bool& matched) {
  std::size_t i = 1;
  const bool negated = i < pattern.size() && (pattern[i] == '!' || pattern[i] == '^');
  i += negated ? 1 : 0;
  bool any = false;
  for (bool first = true; i < pattern.size() && (first || pattern[i] != ']'); first = false) {
    const bool range = i + 2 < pattern.size() && pattern[i + 1] == '-' && pattern[i + 2] != ']';
    any = any || (range ? pattern[i] <= c && c <= pattern[i + 2] : pattern[i] == c);
    i += range ? 3 : 1;
  }
  matched = any != negated;
  return i < pattern.size() ? i + 1 : std::string_view::npos;
}

}  // namespace

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  std::size_t start = 0;
  for (std::size_t at = text.find(separator); at != std::string_view::npos;
       at = text.find(separator, start)) {
    pieces.push_back(text.substr(start, at - start));
    start = at + 1;
  }
  pieces.push_back(text.substr(start));
  return pieces;
}

std::vector<std::string_view> split_words(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> words;
  for (std::size_t at = text.find_first_not_of(separators); at != std::string_view::npos;) {
    const std::size_t end = text.find_first_of(separators, at);
    words.push_back(text.substr(at, end == std::string_view::npos ? end : end - at));
    at = end == std::string_view::npos ? end : text.find_first_not_of(separators, end);
  }
  return words;
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view space = " \t\r\n";
  const std::size_t first = text.find_first_not_of(space);
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(space) - first + 1);
}

std::string join(std::span<const std::string> parts, std::string_view between) {
  std::string out;
  for (const auto& part : parts) {
    out += out.empty() && &part == parts.data() ? "" : between;
    out += part;
  }
  return out;
}

std::string_view base_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

std::string_view directory_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) {
    return {};
  }
  return path.substr(0, slash == 0 ? 1 : slash);
}

std::string printable(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  while (!bytes.empty()) {
    const CodePoint c = decode(bytes);
    const std::size_t length = c.bytes == 0 ? 1 : c.bytes;
    if (c.bytes == 0 || is_unsafe(c.value)) {
      append_escaped(out, bytes.substr(0, length));
    } else {
      out += bytes.substr(0, length);
    }
    bytes.remove_prefix(length);
  }
  return out;
}

bool is_utf8(std::string_view bytes) {
  bytes.remove_prefix(ascii_prefix(bytes));
  while (!bytes.empty()) {
    const std::size_t length = decode(bytes).bytes;
    if (length == 0) {
      return false;
    }
    bytes.remove_prefix(length);
  }
  return true;
}

std::string to_utf8(std::string_view bytes) {
  std::string out(bytes.substr(0, ascii_prefix(bytes)));
  bytes.remove_prefix(out.size());
  while (!bytes.empty()) {
    const std::size_t length = decode(bytes).bytes;
    out += length == 0 ? std::string_view("\xEF\xBF\xBD") : bytes.substr(0, length);
    bytes.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

std::size_t display_width(std::string_view utf8) {
  std::size_t width = 0;
  while (!utf8.empty()) {
    const CodePoint c = decode(utf8);
    width += is_zero_width(c.value) && c.bytes != 0 ? 0 : is_wide(c.value) ? 2 : 1;
    utf8.remove_prefix(std::max<std::size_t>(c.bytes, 1));
  }
  return width;
}

// Backtracks only to the last star: linear in text times stars, never exponential.
bool glob_match(std::string_view pattern, std::string_view text) {
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;
  std::size_t star_text = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_text = t;
      continue;
    }
    bool matched = false;
    std::size_t next = p + 1;
    if (p < pattern.size() && pattern[p] == '[') {
      const std::size_t length = match_bracket(pattern.substr(p), text[t], matched);
      matched = length == std::string_view::npos ? text[t] == '[' : matched;
      next = length == std::string_view::npos ? p + 1 : p + length;
    } else if (p < pattern.size()) {
      matched = pattern[p] == '?' || pattern[p] == text[t];
    }
    if (matched) {
      p = next;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++star_text;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

std::vector<std::string> did_you_mean(std::string_view word,
                                      std::span<const std::string> candidates,
                                      std::size_t limit) {
  constexpr std::size_t longest = 256;  // the distance is quadratic; no soname or option is longer
  if (word.size() > longest) {
    return {};
  }
  std::vector<std::pair<std::size_t, std::string>> ranked;
  const std::string low = lower_case(word);
  for (const auto& candidate : candidates) {
    if (candidate.size() > longest) {
      continue;
    }
    const std::string other = lower_case(candidate);
    const bool contains = word.size() >= 3 && other.find(low) != std::string::npos;
    const std::size_t distance = contains ? 1 : edit_distance(low, other);
    if (distance <= std::max<std::size_t>(2, word.size() / 3)) {
      ranked.emplace_back(distance, candidate);
    }
  }
  std::sort(ranked.begin(), ranked.end());
  ranked.erase(std::unique(ranked.begin(), ranked.end()), ranked.end());
  std::vector<std::string> best;
  for (std::size_t i = 0; i < std::min(limit, ranked.size()); ++i) {
    best.push_back(ranked[i].second);
  }
  return best;
}

std::string counted(std::uint64_t count, std::string_view one, std::string_view many) {
  std::string out = std::to_string(count) + " ";
  out += count == 1 || many.empty() ? one : many;
  return count == 1 || !many.empty() ? out : out + "s";
}

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return out;
}

std::string hex(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out;
  for (const char c : bytes) {
    out += digits[static_cast<unsigned char>(c) >> 4U];
    out += digits[static_cast<unsigned char>(c) & 15U];
  }
  return out;
}

std::optional<std::uint64_t> parse_unsigned(std::string_view digits, int base) {
  std::uint64_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto [rest, error] = std::from_chars(digits.data(), end, value, base);
  if (digits.empty() || error != std::errc{} || rest != end) {
    return std::nullopt;
  }
  return value;
}

std::optional<std::int64_t> parse_signed(std::string_view digits) {
  std::int64_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto [rest, error] = std::from_chars(digits.data(), end, value);
  if (digits.empty() || error != std::errc{} || rest != end) {
    return std::nullopt;
  }
  return value;
}

std::optional<double> parse_decimal(std::string_view digits) {
  double value = 0;
  const char* end = digits.data() + digits.size();
  const auto [rest, error] = std::from_chars(digits.data(), end, value, std::chars_format::fixed);
  if (digits.empty() || error != std::errc{} || rest != end || !(value >= 0) ||
      value > std::numeric_limits<double>::max()) {  // "inf" is read as a number too
    return std::nullopt;
  }
  return value;
}

}  // namespace tracso
