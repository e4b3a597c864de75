// Types, str, bytes and int (Include/cpython/unicodeobject.h, longintrepr.h).

#include "base/byte_view.hpp"
#include "python/memory_objects.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace tracso::python {
namespace {

constexpr std::uint64_t is_bytes_flag = std::uint64_t{1} << 27;
constexpr std::uint64_t is_text_flag = std::uint64_t{1} << 28;

constexpr std::uint64_t longest_text = 65536;
constexpr std::size_t longest_type_name = 256;
constexpr std::size_t most_bases = 64;
// str, bytes and dict are asked for first of all.
constexpr std::size_t most_types_planned = 4;

// Interned strings are marked with two bits, free-threaded since 3.14 with a whole byte.
struct TextState {
  std::uint32_t character_bytes = 0;
  bool compact = false, ascii = false;
};

TextState text_state(std::uint32_t bits, const Layout& layout) {
  bits >>= layout.free_threaded && layout.minor >= 14 ? 8U : 2U;
  return {bits & 7U, (bits >> 3U & 1U) != 0, (bits >> 4U & 1U) != 0};
}

void append_continued(std::string& text, std::uint32_t character, int pieces) {
  for (int i = pieces - 1; i >= 0; --i) {
    text += static_cast<char>(0x80U | (character >> (6U * static_cast<unsigned>(i)) & 0x3fU));
  }
}

void append_character(std::string& text, std::uint32_t character) {
  if (character < 0x80) {
    text += static_cast<char>(character);
  } else if (character >= 0xdc80 && character <= 0xdcff) {
    text += static_cast<char>(character - 0xdc00);
  } else if (character < 0x800) {
    text += static_cast<char>(0xc0U | character >> 6U);
    append_continued(text, character, 1);
  } else if (character < 0x10000) {
    text += static_cast<char>(0xe0U | character >> 12U);
    append_continued(text, character, 2);
  } else {
    text += static_cast<char>(0xf0U | character >> 18U);
    append_continued(text, character, 3);
  }
}

std::optional<std::string> encode(std::string raw, std::uint32_t character_bytes) {
  const bool plain = character_bytes == 1 && std::all_of(raw.begin(), raw.end(), [](char byte) {
                       return static_cast<unsigned char>(byte) < 0x80;
                     });
  if (plain) {
    return raw;
  }
  const ByteView view(raw);
  std::string text;
  text.reserve(raw.size());
  for (std::size_t at = 0; at < raw.size(); at += character_bytes) {
    const std::uint32_t character = character_bytes == 1 ? view.get<std::uint8_t>(at).value_or(0)
                                    : character_bytes == 2
                                        ? view.get<std::uint16_t>(at).value_or(0)
                                        : view.get<std::uint32_t>(at).value_or(0);
    if (character > 0x10ffff) {
      return std::nullopt;
    }
    append_character(text, character);
  }
  return text;
}

}  // namespace

void Objects::forget() {
  forget_objects();
  known_ = {};
}

void Objects::forget_objects() {
  memory_.forget();
  names_.clear();
}

void Objects::restart(ReadLimits limits) {
  memory_.restart(limits);
  names_.clear();
}

std::uint64_t Objects::type_of(std::uint64_t object) {
  return object % 8 == 0 ? memory_.pointer(object + layout_.object.type) : 0;
}

std::string Objects::type_name(std::uint64_t type) {
  const auto address = memory_.pointer(type + layout_.object.bytes + body::type_name);
  return memory_.text(address, longest_type_name).value_or("");
}

std::uint64_t Objects::flags(std::uint64_t type) {
  if (types_.size() < most_types_planned &&
      std::find(types_.begin(), types_.end(), type) == types_.end()) {
    types_.push_back(type);
  }
  return memory_.pointer(type + layout_.object.bytes + body::type_flags);
}

void Objects::plan_types() {
  for (const std::uint64_t type : types_) {
    memory_.plan(type + layout_.object.bytes + body::type_flags, sizeof(std::uint64_t));
  }
}

std::uint64_t Objects::type_dict(std::uint64_t type) {
  return memory_.pointer(type + layout_.object.bytes + body::type_dict);
}

// As much as is read of a name that may have thousands of characters.
std::optional<std::string> Objects::long_type_name(std::uint64_t type) {
  const auto address = memory_.pointer(type + layout_.object.bytes + body::type_name);
  if (auto name = memory_.text(address, longest_type_name)) {
    return name;
  }
  std::string start(longest_type_name, '\0');
  if (!memory_.read(address, std::as_writable_bytes(std::span(start)))) {
    return std::nullopt;
  }
  while (!start.empty() && (static_cast<unsigned char>(start.back()) & 0xc0U) == 0x80) {
    start.pop_back();  // half a character
  }
  if (!start.empty() && static_cast<unsigned char>(start.back()) >= 0xc0) {
    start.pop_back();
  }
  return start;
}

std::optional<std::string> Objects::full_type_name(std::uint64_t type) {
  constexpr std::uint64_t is_heap_type = 1U << 9U;
  const std::optional<std::string> known = long_type_name(type);
  if (!known) {
    return std::nullopt;
  }
  const bool is_cut = !known->empty() && type_name(type).empty();
  const std::string name = known->empty() ? "(no name)" : *known + (is_cut ? "..." : "");
  if ((flags(type) & is_heap_type) == 0) {
    return name;
  }
  const std::uint64_t dict = type_dict(type);
  const auto found = dict != 0 ? find(dict, Name::module) : Found{};
  const auto module = found.object != 0 ? text(found.object) : std::nullopt;
  return module && *module != "builtins" && known->find('.') == std::string::npos
             ? *module + "." + name
             : name;
}

std::vector<std::uint64_t> Objects::method_resolution_order(std::uint64_t type) {
  std::vector<std::uint64_t> types;
  const auto mro = memory_.pointer(type + layout_.object.bytes + body::type_mro);
  const auto count = mro == 0 ? 0 : memory_.pointer(mro + layout_.object.bytes + body::tuple_size);
  // The first item is the type itself; since 3.14 a hash stands before it.
  auto items = mro + layout_.object.bytes + body::tuple_items;
  items += memory_.pointer(items) == type ? 0 : 8;
  for (std::uint64_t i = 0; i < count && i < most_bases; ++i) {
    types.push_back(memory_.pointer(items + 8 * i));
  }
  for (auto base = type; mro == 0 && base != 0 && types.size() < most_bases;) {
    types.push_back(base);
    base = memory_.pointer(base + layout_.object.bytes + body::type_base);
  }
  return types;
}

bool Objects::is_text(std::uint64_t object) {
  const auto type = type_of(object);
  return type != 0 && (flags(type) & is_text_flag) != 0;
}

std::optional<std::string> Objects::text(std::uint64_t object) {
  if (!is_text(object)) {
    return std::nullopt;
  }
  const auto length =
      memory_.value<std::uint64_t>(object + layout_.object.bytes + body::text_length);
  const auto bits = memory_.value<std::uint32_t>(object + layout_.object.bytes + body::text_state);
  if (!length || !bits || *length > longest_text) {
    return std::nullopt;
  }
  const auto state = text_state(*bits, layout_);
  const auto width = state.character_bytes;
  if (width != 1 && width != 2 && width != 4) {
    return std::nullopt;
  }
  const auto data = !state.compact ? memory_.pointer(object + layout_.object.compact)
                    : state.ascii  ? object + layout_.object.ascii
                                   : object + layout_.object.compact;
  std::string raw(static_cast<std::size_t>(*length * width), '\0');
  if (!raw.empty() && !memory_.read(data, std::as_writable_bytes(std::span(raw)))) {
    return std::nullopt;
  }
  return encode(std::move(raw), width);
}

std::optional<std::vector<std::byte>> Objects::bytes(std::uint64_t object, std::uint64_t limit) {
  const auto type = type_of(object);
  const auto size = memory_.value<std::uint64_t>(object + layout_.object.bytes + body::bytes_size);
  if (type == 0 || (flags(type) & is_bytes_flag) == 0 || !size || *size > limit) {
    return std::nullopt;
  }
  std::vector<std::byte> bytes(static_cast<std::size_t>(*size));
  const auto data = object + layout_.object.bytes + body::bytes_data;
  return bytes.empty() || memory_.read(data, bytes) ? std::optional(std::move(bytes))
                                                    : std::nullopt;
}

std::optional<std::int64_t> Objects::integer(std::uint64_t object) {
  constexpr unsigned digit_bits = 30;
  const auto digits_at = object + layout_.object.bytes + body::integer_digits;
  const auto size = memory_.value<std::int64_t>(object + layout_.object.bytes + body::integer_size);
  const auto low = memory_.value<std::uint32_t>(digits_at);
  if (!size || !low) {
    return std::nullopt;
  }
  // Since 3.12 the low three bits are flags, among them the sign; before, the sign is the size's.
  const bool tagged = layout_.minor >= 12;
  const bool negative = tagged ? (*size & 3) == 2 : *size < 0;
  const std::int64_t digits = tagged ? *size >> 3 : (*size < -2 ? 3 : *size < 0 ? -*size : *size);
  if (digits < 0 || digits > 2) {
    return std::nullopt;
  }
  std::int64_t value = digits == 0 ? 0 : *low;
  if (digits == 2) {
    const auto high = memory_.value<std::uint32_t>(digits_at + sizeof(std::uint32_t));
    if (!high || *high >> digit_bits != 0) {
      return std::nullopt;
    }
    value |= static_cast<std::int64_t>(*high) << digit_bits;
  }
  return negative ? -value : value;
}

}  // namespace tracso::python
