#include "calls/value_text.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <bit>

namespace tracso::calls {
namespace {

std::string character_text(std::uint64_t word) {
  const auto value = static_cast<std::int32_t>(word);
  constexpr int most = 255;
  if (value < 0 || value > most) {
    return fmt::format("{}", value);
  }
  const auto text = quoted(std::string(1, static_cast<char>(value)), false);
  return "'" +
         (value == '\''  ? "\\'"
          : value == '"' ? "\""
                         : text.substr(1, text.size() - 2)) +
         "'";
}

std::string enumeration_text(std::uint64_t word, const Type& type) {
  const auto value = unsigned_value(word, type.size);
  for (const auto& known : type.set->values) {
    if (known.value == value) {
      return known.name;
    }
  }
  return fmt::format("{}", signed_value(word, type.size));
}

std::string flags_text(std::uint64_t word, const Type& type) {
  auto rest = unsigned_value(word, type.size);
  const auto whole = rest;
  std::string text;
  for (const auto& known : type.set->values) {
    if ((whole & known.mask) == known.value && (known.value == 0 || (rest & known.value) != 0)) {
      text += (text.empty() ? "" : "|") + known.name;
      rest &= ~known.value;
    }
  }
  if (rest != 0 || text.empty()) {
    text += fmt::format("{}{:#x}", text.empty() ? "" : "|", rest);
  }
  return text;
}

// A text or bytes that a pointer leads to; the pointer where they cannot be read.
std::string pointed_text(const Value& value, const CallEvent& event) {
  if (value.word == 0) {
    return "nil";
  }
  const Piece* piece = event.piece(value.of);
  if (piece == nullptr || piece->state == tracso_piece_fault) {
    return pointer_text(value.word);
  }
  return quoted(piece->bytes, piece->state == tracso_piece_cut);
}

// Without a last character of which only the beginning is there.
std::size_t whole_characters(std::string_view bytes) {
  constexpr std::size_t longest = 4;
  for (std::size_t tail = 1; tail < longest && tail < bytes.size(); ++tail) {
    if (is_utf8(bytes)) {
      break;
    }
    if (is_utf8(bytes.substr(0, bytes.size() - tail))) {
      return bytes.size() - tail;
    }
  }
  return bytes.size();
}

}  // namespace

std::uint64_t unsigned_value(std::uint64_t word, std::uint8_t size) {
  constexpr unsigned bits_of_byte = 8;
  return size >= sizeof word ? word : word & ((std::uint64_t{1} << (size * bits_of_byte)) - 1);
}

std::int64_t signed_value(std::uint64_t word, std::uint8_t size) {
  switch (size) {
    case 1:
      return static_cast<std::int8_t>(word);
    case 2:
      return static_cast<std::int16_t>(word);
    case 4:
      return static_cast<std::int32_t>(word);
    default:
      return static_cast<std::int64_t>(word);
  }
}

std::string quoted(std::string_view bytes, bool cut) {
  std::string text = "\"";
  if (cut) {
    bytes = bytes.substr(0, whole_characters(bytes));
  }
  const bool utf8 = is_utf8(bytes);
  // Whatever a terminal would obey is escaped by printable(); here what C would escape.
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const char character = bytes[i];
    const auto byte = static_cast<unsigned char>(character);
    constexpr unsigned char first_of_many = 0x80;
    constexpr unsigned char end_of_ascii = 0x7f;
    switch (character) {
      case '"':
        text += "\\\"";
        continue;
      case '\\':
        text += "\\\\";
        continue;
      case '\n':
        text += "\\n";
        continue;
      case '\t':
        text += "\\t";
        continue;
      case '\r':
        text += "\\r";
        continue;
      default:
        break;
    }
    if (byte >= first_of_many && utf8) {
      auto end = i + 1;
      while (end < bytes.size() &&
             (static_cast<unsigned char>(bytes[end]) & 0xC0U) == first_of_many) {
        ++end;
      }
      text += printable(bytes.substr(i, end - i));
      i = end - 1;
    } else if (byte < ' ' || byte >= end_of_ascii) {
      const bool digit_follows = i + 1 < bytes.size() && bytes[i + 1] >= '0' && bytes[i + 1] <= '9';
      text += digit_follows || byte >= end_of_ascii ? fmt::format("\\{:03o}", byte)
                                                    : fmt::format("\\{:o}", byte);
    } else {
      text += character;
    }
  }
  return text + (cut ? "\"..." : "\"");
}

std::string floating_text(std::uint64_t word, std::uint8_t size) {
  return size == sizeof(float)
             ? fmt::format("{:.6f}", std::bit_cast<float>(static_cast<std::uint32_t>(word)))
             : fmt::format("{:.6f}", std::bit_cast<double>(word));
}

std::string hexadecimal_floating_text(std::uint64_t word, std::uint8_t size) {
  const double value =
      size == sizeof(float)
          ? static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(word)))
          : std::bit_cast<double>(word);
  return fmt::format("{:a}", value);
}

std::string bits_text(std::string_view bytes) {
  constexpr std::size_t bits_of_byte = 8;
  const auto count = bytes.size() * bits_of_byte;
  const auto is_set = [&](std::size_t bit) {
    const auto byte = static_cast<unsigned char>(bytes[bit / bits_of_byte]);
    return (byte >> (bit % bits_of_byte) & 1U) != 0;
  };
  std::size_t set = 0;
  for (std::size_t bit = 0; bit < count; ++bit) {
    set += is_set(bit) ? 1 : 0;
  }
  const bool others = set > count / 2;
  std::string text = others ? "~<" : "<";
  for (std::size_t bit = 0; bit < count;) {
    const auto first = bit;
    while (bit < count && is_set(bit) != others) {
      ++bit;
    }
    if (bit != first) {
      text += text.back() == '<' ? "" : ",";
      text += bit - first == 1 ? fmt::format("{}", first) : fmt::format("{}-{}", first, bit - 1);
    } else {
      ++bit;
    }
  }
  return text + ">";
}

std::string word_text(std::uint64_t word) {
  constexpr std::uint64_t small = 1'000'001;  // programs begin at 0x400000 at the lowest
  if (word < small) {
    return fmt::format("{}", word);
  }
  if (word >= std::uint64_t{0} - small) {
    return fmt::format("{}", static_cast<std::int64_t>(word));
  }
  return fmt::format("{:#x}", word);
}

std::string pointer_text(std::uint64_t word) {
  return word == 0 ? "nil" : fmt::format("{:#x}", word);
}

std::string value_text(const Value& value, const Type& type, const CallEvent& event) {
  if (!value.known) {
    return "?";
  }
  switch (type.role) {
    case Role::signed_number:
      return fmt::format("{}", signed_value(value.word, type.size));
    case Role::unsigned_number:
      return fmt::format("{}", unsigned_value(value.word, type.size));
    case Role::hexadecimal:
      return fmt::format("{:#x}", unsigned_value(value.word, type.size));
    case Role::octal:
    case Role::created_mode:
      return fmt::format("0{:o}", unsigned_value(value.word, type.size));
    case Role::character:
      return character_text(value.word);
    case Role::text:
    case Role::format:
    case Role::bytes:
      return pointed_text(value, event);
    case Role::enumeration:
      return enumeration_text(value.word, type);
    case Role::flags:
      return flags_text(value.word, type);
    case Role::floating:
      return floating_text(value.word, type.size);
    case Role::hexadecimal_floating:
      return hexadecimal_floating_text(value.word, type.size);
    case Role::boolean:
      return unsigned_value(value.word, type.size) == 0 ? "false" : "true";
    case Role::bits:
      return bits_text({reinterpret_cast<const char*>(&value.word), type.size});  // NOLINT: bytes
    case Role::unknown:
      return "?";
    default:
      return pointer_text(value.word);
  }
}

}  // namespace tracso::calls
