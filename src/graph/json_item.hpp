#pragma once
// Reading foreign JSON without trusting its shape: every access names what it wants, a wrong type
// is remembered once, with its place, and reading goes on with empty values.

#include <nlohmann/json.hpp>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tracso {

/// The first thing that was wrong: "nodes[3].size: not a whole number of at most
/// 18446744073709551615".
class JsonProblem {
 public:
  void note(std::string_view where, std::string_view what);

  const std::string& text() const { return text_; }

  bool any() const { return !text_.empty(); }

 private:
  std::string text_;
};

/// One value of the document and where it stands. A key that is absent reads as null: keys are
/// added within a schema, so an older document may lack some.
class JsonItem {
 public:
  JsonItem(const nlohmann::json* value, std::string where, JsonProblem* problem)
      : value_(value), where_(std::move(where)), problem_(problem) {}

  bool is_null() const;
  /// The member of an object; null where this is null.
  JsonItem at(const char* key) const;
  /// The elements of an array; none where it is null.
  std::vector<JsonItem> items(const char* key) const;

  /// The bytes of a text: those of key_hex where that is there. "" where it is null.
  std::string text(const char* key) const;
  std::optional<std::string> optional_text(const char* key) const;
  std::vector<std::string> texts(const char* key) const;
  /// false where it is null.
  bool flag(const char* key) const;
  /// The text of this value itself; "" and a problem where it is none.
  std::string_view own_text() const;
  /// This value itself, unless null.
  std::optional<std::uint64_t> own_number(std::uint64_t most) const;

  /// 0 where it is null.
  template <class T>
  T number(const char* key) const {
    return optional_number<T>(key).value_or(T{});
  }

  template <class T>
  std::optional<T> optional_number(const char* key) const {
    if constexpr (std::numeric_limits<T>::is_signed) {
      const auto value =
          at(key).own_signed(std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
      return value ? std::optional(static_cast<T>(*value)) : std::nullopt;
    } else {
      const auto value = at(key).own_number(std::numeric_limits<T>::max());
      return value ? std::optional(static_cast<T>(*value)) : std::nullopt;
    }
  }

  void wrong(std::string_view what) const { problem_->note(where_, what); }

 private:
  std::optional<std::int64_t> own_signed(std::int64_t least, std::int64_t most) const;
  std::optional<std::string> bytes_of(const JsonItem& hex_text) const;

  const nlohmann::json* value_;  // null: absent
  std::string where_;
  JsonProblem* problem_;
};

/// What a parser would have to build, counted before one sees the text; strings are left out.
struct JsonShape {
  std::size_t depth = 0;   ///< deepest nesting of brackets
  std::size_t values = 0;  ///< about: each takes some hundred bytes once it is read
};

JsonShape json_shape(std::string_view text);

/// The largest documents in use (thousands of libraries) have a tenth of that.
constexpr std::size_t most_json_values = 10'000'000;

}  // namespace tracso
