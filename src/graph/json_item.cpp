#include "graph/json_item.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tracso {
namespace {

std::optional<std::string> unhex(std::string_view digits) {
  if (digits.size() % 2 != 0) {
    return std::nullopt;
  }
  std::string bytes;
  bytes.reserve(digits.size() / 2);
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    const auto value = parse_unsigned(digits.substr(i, 2), 16);
    if (!value) {
      return std::nullopt;
    }
    bytes += static_cast<char>(static_cast<unsigned char>(*value));
  }
  return bytes;
}

}  // namespace

void JsonProblem::note(std::string_view where, std::string_view what) {
  if (text_.empty()) {
    text_ = fmt::format("{}{}{}", where, where.empty() ? "" : ": ", what);
  }
}

bool JsonItem::is_null() const {
  return value_ == nullptr || value_->is_null();
}

JsonItem JsonItem::at(const char* key) const {
  std::string where = where_.empty() ? key : where_ + "." + key;
  if (is_null()) {
    return {nullptr, std::move(where), problem_};
  }
  if (!value_->is_object()) {
    wrong("not an object");
    return {nullptr, std::move(where), problem_};
  }
  const auto found = value_->find(key);
  return {found == value_->end() ? nullptr : &*found, std::move(where), problem_};
}

std::vector<JsonItem> JsonItem::items(const char* key) const {
  const JsonItem array = at(key);
  std::vector<JsonItem> out;
  if (array.is_null()) {
    return out;
  }
  if (!array.value_->is_array()) {
    array.wrong("not an array");
    return out;
  }
  out.reserve(array.value_->size());
  for (const auto& element : *array.value_) {
    out.emplace_back(&element, fmt::format("{}[{}]", array.where_, out.size()), problem_);
  }
  return out;
}

std::string_view JsonItem::own_text() const {
  if (value_ == nullptr || !value_->is_string()) {
    wrong("not a text");
    return {};
  }
  return value_->get_ref<const std::string&>();
}

std::optional<std::string> JsonItem::bytes_of(const JsonItem& hex_text) const {
  const auto bytes = unhex(hex_text.own_text());
  if (!bytes) {
    hex_text.wrong("not hexadecimal digits");
  }
  return bytes;
}

std::optional<std::string> JsonItem::optional_text(const char* key) const {
  const JsonItem plain = at(key);
  if (plain.is_null()) {
    return std::nullopt;
  }
  const JsonItem bytes = at((std::string(key) + "_hex").c_str());
  return bytes.is_null() ? std::string(plain.own_text()) : bytes_of(bytes);
}

std::string JsonItem::text(const char* key) const {
  return optional_text(key).value_or("");
}

std::vector<std::string> JsonItem::texts(const char* key) const {
  std::vector<std::string> out;
  const std::string hex_key = std::string(key) + "_hex";
  if (!at(hex_key.c_str()).is_null()) {
    for (const JsonItem& element : items(hex_key.c_str())) {
      out.push_back(bytes_of(element).value_or(""));
    }
    return out;
  }
  for (const JsonItem& element : items(key)) {
    out.emplace_back(element.own_text());
  }
  return out;
}

bool JsonItem::flag(const char* key) const {
  const JsonItem item = at(key);
  if (item.is_null()) {
    return false;
  }
  if (!item.value_->is_boolean()) {
    item.wrong("not true or false");
    return false;
  }
  return item.value_->get<bool>();
}

std::optional<std::uint64_t> JsonItem::own_number(std::uint64_t most) const {
  if (is_null()) {
    return std::nullopt;
  }
  if (value_->is_number_unsigned() && value_->get<std::uint64_t>() <= most) {
    return value_->get<std::uint64_t>();
  }
  wrong(fmt::format("not a whole number of at most {}", most));
  return std::nullopt;
}

// nlohmann keeps what is not negative as unsigned.
std::optional<std::int64_t> JsonItem::own_signed(std::int64_t least, std::int64_t most) const {
  if (is_null()) {
    return std::nullopt;
  }
  if (value_->is_number_unsigned()) {
    const auto number = value_->get<std::uint64_t>();
    if (number <= static_cast<std::uint64_t>(most)) {
      return static_cast<std::int64_t>(number);
    }
  } else if (value_->is_number_integer()) {
    const auto number = value_->get<std::int64_t>();
    if (number >= least && number <= most) {
      return number;
    }
  }
  wrong(fmt::format("not a whole number from {} to {}", least, most));
  return std::nullopt;
}

JsonShape json_shape(std::string_view text) {
  JsonShape shape;
  std::size_t depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      i += c == '\\' ? 1 : 0;
      quoted = c != '"';
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      shape.depth = std::max(shape.depth, ++depth);
      ++shape.values;
    } else if (c == ']' || c == '}') {
      depth -= depth > 0 ? 1 : 0;
    } else if (c == ',') {
      ++shape.values;
    }
  }
  return shape;
}

}  // namespace tracso
