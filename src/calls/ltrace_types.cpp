#include "calls/ltrace_types.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace tracso::calls {
namespace {

constexpr std::size_t deepest_type = 16;     // types within types
constexpr std::size_t most_values = 4096;    // of an enumeration
constexpr std::uint32_t most_bytes = 65536;  // of a structure
// Of an array that a pointer leads to; of its elements a few are looked at.
constexpr std::uint32_t most_array_bytes = 1U << 30U;

// clang-format off
constexpr std::array ltrace_words{
    TypeName{"void", {Role::nothing, 0}},          TypeName{"char", {Role::character, 1}},
    TypeName{"short", {Role::signed_number, 2}},   TypeName{"ushort", {Role::unsigned_number, 2}},
    TypeName{"int", {Role::signed_number, 4}},     TypeName{"uint", {Role::unsigned_number, 4}},
    TypeName{"long", {Role::signed_number, 8}},    TypeName{"ulong", {Role::unsigned_number, 8}},
    TypeName{"float", {Role::floating, 4}},        TypeName{"double", {Role::floating, 8}},
    TypeName{"addr", {Role::pointer, 8}},          TypeName{"file", {Role::pointer, 8}},
    TypeName{"octal", {Role::octal, 4}},           TypeName{"format", {Role::format, 8}},
    TypeName{"std_string", {Role::text_object, 8}}, TypeName{"std_string_view", {Role::text_view, 8}},
};

// clang-format on

bool is_integer(const Type& type) {
  return type.role == Role::signed_number || type.role == Role::unsigned_number ||
         type.role == Role::character || type.role == Role::octal ||
         type.role == Role::hexadecimal || type.role == Role::boolean ||
         type.role == Role::enumeration || type.role == Role::pointer;
}

}  // namespace

std::optional<Type> TypeReader::type() {
  ++depth_;
  auto found = depth_ <= deepest_type ? plain_type() : std::nullopt;
  if (depth_ > deepest_type) {
    line_.fail("types within types within types, more than 16 deep");
  }
  --depth_;
  while (found && line_.take('*')) {
    found = pointer_to(*found);
  }
  return found;
}

std::nullopt_t TypeReader::wrong(std::string reason) {
  line_.fail(std::move(reason));
  return std::nullopt;
}

Type TypeReader::pointer_to(const Type& type) {
  if (type.role == Role::nothing || type.role == Role::format) {
    return {Role::pointer, 8};
  }
  Type pointer{Role::reference, 8};
  auto& inside = into_.add_inside();
  inside.fields.push_back(type);
  pointer.inside = &inside;
  return pointer;
}

std::optional<Length> TypeReader::length(bool may_be_zero) {
  const auto start = line_.place();
  const auto name = line_.word();
  if (name == "zero" && may_be_zero) {
    Length found;
    if (line_.take('(')) {
      const auto most = length(/*may_be_zero=*/false);
      if (!most || !line_.want(')')) {
        return std::nullopt;
      }
      found = *most;
    }
    found.until_zero = true;
    return found;
  }
  if (name == "retval") {
    return Length{Length::Of::result, 0};
  }
  for (const auto& [prefix, of] :
       {std::pair("arg", Length::Of::argument), std::pair("elt", Length::Of::field)}) {
    if (name.starts_with(prefix)) {
      const auto which = parse_unsigned(name.substr(3));
      if (!which || (*which == 0 && of == Length::Of::field) || *which > most_config_fields) {
        return wrong(fmt::format("'{}' is no length", printable(name)));
      }
      return *which == 0 ? Length{Length::Of::result, 0} : Length{of, *which};
    }
  }
  line_.go_back(start);
  if (line_.is_next('-')) {
    return wrong("a length cannot be negative");
  }
  const auto fixed = line_.number();
  return fixed ? std::optional(Length{Length::Of::number, *fixed}) : std::nullopt;
}

std::optional<Type> TypeReader::array_of(const Type& element, const Length& many, bool is_text) {
  if (bytes_of(element) == 0) {
    return wrong("an array of nothing");
  }
  auto& inside = into_.add_inside();
  inside.fields.push_back(element);
  inside.length = many;
  inside.is_text = is_text;
  inside.alignment = alignment_of(element);
  if (many.of == Length::Of::number) {
    if (many.number > most_array_bytes / bytes_of(element)) {
      return wrong("an array of more than 1 GiB");
    }
    inside.bytes = static_cast<std::uint32_t>(many.number) * bytes_of(element);
  }
  Type type{Role::array};
  type.inside = &inside;
  return type;
}

// string, string[arg2], string(char*), string(array(char, 6)), string(array(char, arg3)*)
std::optional<Type> TypeReader::text() {
  constexpr Type one{Role::character, 1};
  if (line_.take('[')) {
    const auto many = length();
    if (!many || !line_.want(']')) {
      return std::nullopt;
    }
    const auto characters = array_of(one, *many, /*is_text=*/true);
    return characters ? std::optional(pointer_to(*characters)) : std::nullopt;
  }
  if (!line_.take('(')) {
    return Type{Role::text, 8};
  }
  const auto base = type();
  if (!base || !line_.want(')')) {
    return std::nullopt;
  }
  const bool points = base->role == Role::reference;
  const Type& what = points ? base->inside->fields.front() : *base;
  if (points && what.role == Role::character) {
    return Type{Role::text, 8};
  }
  if (what.role != Role::array || what.inside->fields.front().role != Role::character) {
    return wrong("string() is of char* or of an array of char");
  }
  const auto characters = array_of(one, what.inside->length, /*is_text=*/true);
  return characters && points ? std::optional(pointer_to(*characters)) : characters;
}

std::optional<Type> TypeReader::numbered_text(std::uint64_t argument) {
  const Length many =
      argument == 0 ? Length{Length::Of::result, 0} : Length{Length::Of::argument, argument};
  const auto characters = array_of({Role::character, 1}, many, /*is_text=*/true);
  return characters ? std::optional(pointer_to(*characters)) : std::nullopt;
}

std::optional<Type> TypeReader::enumeration() {
  Type type{Role::enumeration, 4};
  if (line_.take('[')) {
    const auto base = this->type();
    if (!base || !line_.want(']')) {
      return std::nullopt;
    }
    if (!is_integer(*base)) {
      return wrong("enum[] is of an integer type");
    }
    type.size = base->size;
  }
  auto& set = into_.add_set();
  type.set = &set;
  if (!line_.want('(')) {
    return std::nullopt;
  }
  std::uint64_t next = 0;
  do {
    const auto name = line_.word();
    if (name.empty() || set.values.size() == most_values) {
      return wrong(fmt::format("a name is missing {}", line_.here()));
    }
    if (line_.take('=')) {
      const auto value = line_.number();
      if (!value) {
        return std::nullopt;
      }
      next = *value;
    }
    constexpr unsigned bits_of_byte = 8;
    const auto mask = type.size < sizeof next ? (std::uint64_t{1} << (type.size * bits_of_byte)) - 1
                                              : ~std::uint64_t{0};
    set.values.push_back({std::string(name), next & mask, 0});
    ++next;
  } while (line_.take(','));
  return line_.want(')') ? std::optional(type) : std::nullopt;
}

// A lens with a type in parentheses.
std::optional<Type> TypeReader::decorated(std::string_view lens) {
  if (!line_.want('(')) {
    return std::nullopt;
  }
  auto base = type();
  if (!base || !line_.want(')')) {
    return std::nullopt;
  }
  if (lens == "hide") {
    base->hidden = true;
    return base;
  }
  if (lens == "bitvec" && !is_integer(*base)) {
    return bits_of(*base);
  }
  if (lens == "hex" && is_floating(*base)) {
    base->role = Role::hexadecimal_floating;
    return base;
  }
  if (!is_integer(*base)) {
    return wrong(fmt::format("{}() is of an integer type", lens));
  }
  base->role = lens == "hex"    ? Role::hexadecimal
               : lens == "oct"  ? Role::octal
               : lens == "bool" ? Role::boolean
                                : Role::bits;
  return base;
}

// Of an array or a structure, or of one that a pointer leads to.
std::optional<Type> TypeReader::bits_of(const Type& base) {
  const bool points = base.role == Role::reference;
  auto& inside = into_.add_inside();
  inside.fields.push_back(points ? base.inside->fields.front() : base);
  Type bits{Role::bits};
  bits.inside = &inside;
  return points ? pointer_to(bits) : bits;
}

std::optional<Type> TypeReader::array() {
  if (!line_.want('(')) {
    return std::nullopt;
  }
  const auto element = type();
  if (!element || !line_.want(',')) {
    return std::nullopt;
  }
  const auto many = length();
  return many && line_.want(')') ? array_of(*element, *many, /*is_text=*/false) : std::nullopt;
}

std::optional<Type> TypeReader::structure() {
  Type type{Role::structure};
  auto& inside = into_.add_inside();
  type.inside = &inside;
  return fields_of(inside) ? std::optional(type) : std::nullopt;
}

std::optional<Type> TypeReader::plain_type() {
  const auto name = line_.word();
  const auto* const known = std::find_if(ltrace_words.begin(),
                                         ltrace_words.end(),
                                         [&](const TypeName& one) { return one.name == name; });
  if (known != ltrace_words.end()) {
    return known->type;
  }
  if (name == "string") {
    return text();
  }
  constexpr std::string_view numbered = "string";  // an older form: string2 is string[arg2]
  if (name.starts_with(numbered) && name.size() == numbered.size() + 1 && name.back() >= '0' &&
      name.back() <= '9') {
    return numbered_text(static_cast<std::uint64_t>(name.back() - '0'));
  }
  if (name == "enum") {
    return enumeration();
  }
  if (name == "array") {
    return array();
  }
  if (name == "struct") {
    return structure();
  }
  if (name == "hex" || name == "oct" || name == "bool" || name == "hide" || name == "bitvec") {
    return decorated(name);
  }
  const auto named = names_.find(name);
  if (named != names_.end()) {
    return named->second;
  }
  return wrong(name.empty() ? fmt::format("a type is missing {}", line_.here())
                            : fmt::format("'{}' is no type that is known", printable(name)));
}

bool TypeReader::fields_of(Inside& into) {
  Inside made;
  if (!line_.want('(')) {
    return false;
  }
  std::uint32_t end = 0;
  while (!line_.is_next(')')) {
    const auto field = type();
    if (!field) {
      return false;
    }
    if (field->role == Role::nothing || field->role == Role::format ||
        (field->role == Role::structure && !field->inside->is_whole)) {
      return line_.fail("a structure holds neither void, nor format, nor itself");
    }
    const auto alignment = std::max<std::uint32_t>(alignment_of(*field), 1);
    end = (end + alignment - 1) / alignment * alignment;
    made.offsets.push_back(end);
    made.fields.push_back(*field);
    made.alignment = std::max(made.alignment, alignment);
    end += bytes_of(*field);
    if (end > most_bytes || made.fields.size() > most_config_fields) {
      return line_.fail("a structure of more than 64 KiB or 256 fields");
    }
    if (!line_.take(',')) {
      break;
    }
  }
  made.bytes = (end + made.alignment - 1) / made.alignment * made.alignment;
  if (!line_.want(')')) {
    return false;
  }
  into = std::move(made);
  return true;
}

}  // namespace tracso::calls
