#include "calls/argument_text.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <span>
#include <vector>

namespace tracso::calls {
namespace {

constexpr std::size_t shown_unknown = 4;  // arguments of a function without a prototype, as ltrace

// Where an argument lies, and what.
struct Value {
  std::uint64_t word = 0;
  std::uint8_t of = 0;  // enum tracso_piece_of
  bool known = false;
};

// Gives the arguments in order: integers and doubles have registers of their own, then the stack.
class Arguments {
 public:
  explicit Arguments(const CallEvent& call) : call_(call) {}

  Value integer() {
    if (integers_ < tracso_argument_registers) {
      const auto number = integers_++;
      return {call_.call.integer[number], static_cast<std::uint8_t>(number), true};
    }
    return stack();
  }

  Value floating() {
    constexpr std::size_t registers = 8;
    return floatings_ < registers
               ? Value{call_.call.floating[floatings_++], tracso_piece_result, true}
               : stack();
  }

 private:
  Value stack() {
    if (on_stack_ >= call_.call.stack_words) {
      return {};
    }
    const auto number = on_stack_++;
    return {call_.call.stack[number], static_cast<std::uint8_t>(tracso_piece_stack + number), true};
  }

  const CallEvent& call_;
  std::size_t integers_ = 0, floatings_ = 0, on_stack_ = 0;
};

std::uint64_t low_bytes(std::uint64_t word, std::uint8_t size) {
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

std::string floating_text(std::uint64_t word, std::uint8_t size) {
  return size == sizeof(float)
             ? fmt::format("{:.6f}", std::bit_cast<float>(static_cast<std::uint32_t>(word)))
             : fmt::format("{:.6f}", std::bit_cast<double>(word));
}

// A word of which nothing is known: small numbers are numbers.
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
  const auto value = low_bytes(word, type.size);
  for (const auto& known : type.set->values) {
    if (known.value == value) {
      return known.name;
    }
  }
  return fmt::format("{}", signed_value(word, type.size));
}

std::string flags_text(std::uint64_t word, const Type& type) {
  auto rest = low_bytes(word, type.size);
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

std::string value_text(const Value& value, const Type& type, const CallEvent& event) {
  if (!value.known) {
    return "?";
  }
  switch (type.role) {
    case Role::signed_number:
      return fmt::format("{}", signed_value(value.word, type.size));
    case Role::unsigned_number:
      return fmt::format("{}", low_bytes(value.word, type.size));
    case Role::hexadecimal:
      return fmt::format("{:#x}", low_bytes(value.word, type.size));
    case Role::octal:
    case Role::created_mode:
      return fmt::format("0{:o}", low_bytes(value.word, type.size));
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
    default:
      return pointer_text(value.word);
  }
}

// --- what a format of printf(3) asks for; the agent (capture.c) reads it the same way

struct Conversion {
  bool numbered = false, wide = false, long_double = false, precise = false;
  std::uint8_t size = 4;
  std::vector<bool> stars;  // widths that are arguments
  char letter = 0;
};

constexpr std::string_view floating_letters = "aAeEfFgG";

// Behind the %; `at` is left behind the conversion.
Conversion next_conversion(std::string_view format, std::size_t& at) {
  Conversion found;
  const auto skip = [&](std::string_view any) {
    const auto end = format.find_first_not_of(any, at);
    at = end == std::string_view::npos ? format.size() : end;
  };
  const auto number = [&] {
    if (at < format.size() && format[at] == '*') {
      found.stars.push_back(true);
      ++at;
    } else {
      skip("0123456789");
    }
  };
  skip("-+ #0'I");
  number();
  found.numbered = at < format.size() && format[at] == '$';
  if (at < format.size() && format[at] == '.') {
    ++at;
    number();
  }
  for (;
       at < format.size() && std::string_view("hlLqjzt").find(format[at]) != std::string_view::npos;
       ++at) {
    const char letter = format[at];
    found.size = letter == 'h' ? static_cast<std::uint8_t>(std::max(found.size / 2, 1)) : 8;
    found.wide = found.wide || letter == 'l';
    found.long_double = found.long_double || letter == 'L';
  }
  found.letter = at < format.size() ? format[at++] : '\0';
  return found;
}

Type type_of(const Conversion& conversion) {
  Type type;
  type.size = conversion.size;
  switch (conversion.letter) {
    case 'd':
    case 'i':
      type.role = Role::signed_number;
      break;
    case 'u':
      type.role = Role::unsigned_number;
      break;
    case 'o':
      type.role = Role::octal;
      break;
    case 'x':
    case 'X':
      type.role = Role::hexadecimal;
      break;
    case 'c':
      type.role = conversion.wide ? Role::signed_number : Role::character;
      break;
    case 's':
      type.role = conversion.wide ? Role::pointer : Role::text;
      break;
    default:
      type.role = Role::pointer;
      break;
  }
  return type;
}

void add(std::string& texts, const std::string& text) {
  texts += (texts.empty() ? "" : ", ") + text;
}

void add_formatted(std::string& texts,
                   std::string_view format,
                   Arguments& from,
                   const CallEvent& call) {
  constexpr Type plain_number{Role::signed_number, 4};
  for (std::size_t at = format.find('%'); at != std::string_view::npos; at = format.find('%', at)) {
    ++at;
    const auto conversion = next_conversion(format, at);
    if (conversion.numbered || conversion.letter == 0 || conversion.long_double) {
      add(texts, "...");
      return;
    }
    if (conversion.letter == '%' || conversion.letter == 'm') {
      continue;
    }
    for (std::size_t i = 0; i < conversion.stars.size(); ++i) {
      add(texts, value_text(from.integer(), plain_number, call));
    }
    const bool floating = floating_letters.find(conversion.letter) != std::string_view::npos;
    const Value value = floating ? from.floating() : from.integer();
    add(texts,
        floating ? (value.known ? floating_text(value.word, sizeof(double)) : "?")
                 : value_text(value, type_of(conversion), call));
  }
}

// The format and what it asks for. More of it was copied than is shown, for its end counts.
void add_format(std::string& texts,
                const Value& value,
                Arguments& from,
                const CallEvent& call,
                std::size_t text_bytes) {
  const Piece* piece = value.known ? call.piece(value.of) : nullptr;
  if (piece == nullptr || piece->state == tracso_piece_fault) {
    add(texts, value.known ? pointer_text(value.word) : "?");
    return;
  }
  const bool cut = piece->state == tracso_piece_cut;
  const std::string_view format = piece->bytes;
  add(texts, quoted(format.substr(0, text_bytes), cut || format.size() > text_bytes));
  add_formatted(texts, format, from, call);
  if (cut) {
    add(texts, "...");
  }
}

std::size_t first_filled_in(const Prototype& prototype) {
  const auto at = std::find_if(prototype.arguments.begin(),
                               prototype.arguments.end(),
                               [](const Type& type) { return type.after; });
  return static_cast<std::size_t>(at - prototype.arguments.begin());
}

// At the call, or with a result those that were not told then.
std::string arguments_text(const CallEvent& call,
                           const CallEvent* result,
                           const Prototype& prototype,
                           std::size_t text_bytes) {
  const auto filled_in = first_filled_in(prototype);
  const std::size_t first = result == nullptr ? 0 : filled_in;
  const std::size_t end = result == nullptr ? filled_in : prototype.arguments.size();
  std::string texts;
  Arguments from(call);
  bool creates = false;
  for (std::size_t i = 0; i < end; ++i) {
    const Type& type = prototype.arguments[i];
    const Value value = type.role == Role::floating ? from.floating() : from.integer();
    if (type.role == Role::flags) {
      constexpr std::uint64_t create = 0100;
      constexpr std::uint64_t temporary = 020000000;
      creates = (value.word & (create | temporary)) != 0;
    }
    if (i < first || (type.role == Role::created_mode && !creates)) {
      continue;
    }
    if (type.role == Role::format) {
      add_format(texts, value, from, call, text_bytes);
    } else {
      add(texts, value_text(value, type, type.after && result != nullptr ? *result : call));
    }
  }
  return texts;
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

ArgumentTexts arguments_at_call(const CallEvent& call,
                                const Prototype* prototype,
                                std::size_t text_bytes) {
  if (prototype == nullptr) {
    std::string texts;
    for (std::size_t i = 0; i < shown_unknown; ++i) {
      add(texts, word_text(call.call.integer[i]));
    }
    return {texts, false};
  }
  const auto filled_in = first_filled_in(*prototype);
  return {arguments_text(call, nullptr, *prototype, text_bytes),
          filled_in != prototype->arguments.size()};
}

std::string arguments_at_return(const CallEvent& call,
                                const CallEvent& result,
                                const Prototype* prototype,
                                std::size_t text_bytes) {
  const auto filled_in = prototype == nullptr ? 0 : first_filled_in(*prototype);
  if (prototype == nullptr || filled_in == prototype->arguments.size()) {
    return "";
  }
  const auto texts = arguments_text(call, &result, *prototype, text_bytes);
  return (filled_in == 0 ? "" : ", ") + texts;
}

std::string result_text(const CallEvent& result, const Prototype* prototype) {
  if (prototype == nullptr) {
    return word_text(result.result.integer);
  }
  const Type& type = prototype->result;
  if (type.role == Role::nothing) {
    return "<void>";
  }
  if (type.role == Role::floating) {
    return floating_text(result.result.floating, type.size);
  }
  const Value value{result.result.integer, tracso_piece_result, true};
  const bool null = value.word == 0 && type.role == Role::pointer;
  return null ? "0" : value_text(value, type, result);
}

}  // namespace tracso::calls
