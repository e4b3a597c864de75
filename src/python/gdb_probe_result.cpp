#include "python/gdb_probe_result.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace tracso::python {
namespace {

constexpr std::string_view result_head = "tracso 1 ";

// Takes one field after the other; nullopt in the outer optional: the form is broken.
class Fields {
 public:
  explicit Fields(std::string_view bytes) : rest_(bytes) {}

  bool at_end() const { return rest_.empty(); }

  std::optional<std::optional<std::string>> next() {
    if (rest_.starts_with('-')) {
      rest_.remove_prefix(1);
      return std::optional<std::string>();
    }
    const auto colon = rest_.substr(0, 20).find(':');
    if (colon == std::string_view::npos) {
      return std::nullopt;
    }
    const auto length = parse_unsigned(rest_.substr(0, colon));
    rest_.remove_prefix(colon + 1);
    if (!length || *length > rest_.size()) {
      return std::nullopt;
    }
    const auto text = rest_.substr(0, static_cast<std::size_t>(*length));
    rest_.remove_prefix(text.size());
    return std::optional<std::string>(bytes_of_surrogates(text));
  }

 private:
  std::string_view rest_;
};

Error broken() {
  return {ErrorKind::malformed,
          "read answer of",
          "the code that gdb ran in the process",
          "not in the form that was asked for",
          ""};
}

}  // namespace

std::string bytes_of_surrogates(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = [&](std::size_t ahead) {
      return i + ahead < text.size() ? static_cast<unsigned char>(text[i + ahead]) : 0U;
    };
    // U+DC80..U+DCBF is ED B2 80..BF, U+DCC0..U+DCFF is ED B3 80..BF.
    const bool escaped =
        byte(0) == 0xedU && (byte(1) == 0xb2U || byte(1) == 0xb3U) && (byte(2) & 0xc0U) == 0x80U;
    if (escaped) {
      out += static_cast<char>((byte(1) == 0xb2U ? 0x80U : 0xc0U) | (byte(2) & 0x3fU));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

Result<GdbAnswer> parse_gdb_result(std::string_view bytes) {
  if (!bytes.starts_with(result_head)) {
    return broken();
  }
  Fields fields(bytes.substr(result_head.size()));
  const auto version = fields.next();
  if (!version) {
    return broken();
  }
  GdbAnswer answer;
  // "3.11.2 (main, Mar 13 2023, ...) [GCC 12.2.0]"; a development build is "3.14.0a1+".
  answer.version = version->value_or("");
  answer.version.resize(std::min(answer.version.find_first_of(" +"), answer.version.size()));
  while (!fields.at_end()) {
    auto name = fields.next();
    auto file = name ? fields.next() : std::nullopt;
    auto origin = file ? fields.next() : std::nullopt;
    if (!origin) {
      return broken();
    }
    if (!*name) {
      continue;
    }
    if (*file && (*file)->find('\0') != std::string::npos) {
      file->reset();
    }
    answer.modules.push_back({std::move(**name), std::move(*file), origin->value_or("")});
  }
  return answer;
}

}  // namespace tracso::python
