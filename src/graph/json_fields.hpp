#pragma once
// Writing JSON straight into a text, an object at a time, for documents that only tracso reads:
// what reads back as nothing (null, false, 0, "", an empty list) is left out.

#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tracso {

/// Appends the text in quotes. Bytes that are not UTF-8 become U+FFFD; controls are escaped, also
/// those that JSON lets stand and a terminal obeys.
void append_json_text(std::string& into, std::string_view text);

/// The keys of one object, which ends with it. Keys are the caller's and need no escape.
class JsonFields {
 public:
  explicit JsonFields(std::string& into) : into_(into) { into_ += '{'; }

  JsonFields(const JsonFields&) = delete;
  JsonFields& operator=(const JsonFields&) = delete;

  ~JsonFields() { into_ += '}'; }

  void text(std::string_view key, std::string_view bytes) {
    if (!bytes.empty()) {
      bytes_of(key, bytes);
    }
  }

  /// "" is not nothing here.
  void optional_text(std::string_view key, const std::optional<std::string>& bytes) {
    if (bytes) {
      bytes_of(key, *bytes);
    }
  }

  void texts(std::string_view key, const std::vector<std::string>& texts);

  void flag(std::string_view key, bool value) {
    if (value) {
      begin(key);
      into_ += "true";
    }
  }

  template <class T>
  void number(std::string_view key, T value) {
    if (value != T{}) {
      begin(key);
      append_number(value);
    }
  }

  template <class T>
  void optional_number(std::string_view key, const std::optional<T>& value) {
    if (value) {
      begin(key);
      append_number(*value);
    }
  }

  /// A text of digits: an id of the document.
  void id(std::string_view key, std::uint32_t value) {
    begin(key);
    append_id(value);
  }

  template <class Fill>
  void object(std::string_view key, const Fill& fill) {
    begin(key);
    JsonFields fields(into_);
    fill(fields);
  }

  /// An object for each row, into which `fill(fields, row)` writes.
  template <class Rows, class Fill>
  void objects(std::string_view key, const Rows& rows, const Fill& fill) {
    list(key, rows, [&](const auto& row) {
      JsonFields fields(into_);
      fill(fields, row);
    });
  }

  template <class Rows>
  void numbers(std::string_view key, const Rows& rows) {
    list(key, rows, [&](auto value) { append_number(value); });
  }

  template <class Rows>
  void ids(std::string_view key, const Rows& rows) {
    list(key, rows, [&](auto value) { append_id(static_cast<std::uint32_t>(value)); });
  }

  /// A text for each row: `word(row)`.
  template <class Rows, class Word>
  void words(std::string_view key, const Rows& rows, const Word& word) {
    list(key, rows, [&](const auto& row) { append_json_text(into_, word(row)); });
  }

 private:
  void begin(std::string_view key) {
    into_ += is_first_ ? "\"" : ",\"";
    into_.append(key).append("\":");
    is_first_ = false;
  }

  void bytes_of(std::string_view key, std::string_view bytes);

  template <class Rows, class Append>
  void list(std::string_view key, const Rows& rows, const Append& append) {
    if (rows.empty()) {
      return;
    }
    begin(key);
    char before = '[';
    for (const auto& row : rows) {
      into_ += before;
      append(row);
      before = ',';
    }
    into_ += ']';
  }

  template <class T>
  void append_number(T value) {
    std::array<char, 24> digits;  // 64 bits have 20
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    into_.append(digits.data(), end);
  }

  void append_id(std::uint32_t value) {
    into_ += '"';
    append_number(value);
    into_ += '"';
  }

  std::string& into_;
  bool is_first_ = true;
};

}  // namespace tracso
