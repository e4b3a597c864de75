#pragma once
// Small text tools that know no subject.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tracso {

/// The pieces between separators; always at least one, empty pieces kept.
std::vector<std::string_view> split(std::string_view text, char separator);
/// The non-empty pieces between any of the separators.
std::vector<std::string_view> split_words(std::string_view text, std::string_view separators);
std::string_view trim(std::string_view text);
std::string join(std::span<const std::string> parts, std::string_view between);

/// "/a/b/c.so" -> "c.so"; "/a/b" of it. The directory of a name without a slash is empty, of "/x"
/// it is "/".
std::string_view base_name(std::string_view path);
std::string_view directory_of(std::string_view path);

/// Foreign bytes made harmless for a terminal: control characters, invalid UTF-8 and bidirectional
/// overrides become \n, \t, \xNN.
std::string printable(std::string_view bytes);
bool is_utf8(std::string_view bytes);
/// The bytes with every invalid piece replaced by U+FFFD.
std::string to_utf8(std::string_view bytes);
/// Columns the text takes on a terminal (wide characters count two, combining ones none).
std::size_t display_width(std::string_view utf8);

/// Shell-style pattern of * ? and [..]; matches the whole text.
bool glob_match(std::string_view pattern, std::string_view text);

/// The candidates close to the word (edit distance), closest first, at most `limit`.
std::vector<std::string> did_you_mean(std::string_view word,
                                      std::span<const std::string> candidates,
                                      std::size_t limit = 3);

/// "1 lib", "2 libs", "0 processes". `many` empty: `one` and an s.
std::string counted(std::uint64_t count, std::string_view one, std::string_view many = "");

std::string lower_case(std::string_view text);
/// lower-case hex of the bytes
std::string hex(std::string_view bytes);

std::optional<std::uint64_t> parse_unsigned(std::string_view digits, int base = 10);
std::optional<std::int64_t> parse_signed(std::string_view digits);
/// "0.5", "2"; not negative.
std::optional<double> parse_decimal(std::string_view digits);

}  // namespace tracso
