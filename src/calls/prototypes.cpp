#include "calls/prototypes.hpp"

#include "base/text.hpp"
#include "calls/system_calls.hpp"
#include "generated/call_prototypes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

namespace tracso::calls {
namespace {

using Sets = std::map<std::string, std::unique_ptr<ValueSet>, std::less<>>;

std::optional<std::uint64_t> number_of(std::string_view word) {
  if (word.starts_with("0x")) {
    return parse_unsigned(word.substr(2), 16);
  }
  return word.size() > 1 && word.front() == '0' ? parse_unsigned(word.substr(1), 8)
                                                : parse_unsigned(word);
}

// "O_WRONLY=1/3" "O_APPEND=02000"
std::optional<ValueSet::Value> value_of(std::string_view word) {
  const auto sign = word.find('=');
  if (sign == std::string_view::npos || sign == 0) {
    return std::nullopt;
  }
  const auto slash = word.find('/', sign);
  const auto value =
      number_of(word.substr(sign + 1, slash == std::string_view::npos ? slash : slash - sign - 1));
  const auto mask = slash == std::string_view::npos ? value : number_of(word.substr(slash + 1));
  if (!value || !mask) {
    return std::nullopt;
  }
  return ValueSet::Value{std::string(word.substr(0, sign)), *value, *mask};
}

struct PrototypeWord {
  std::string_view name;
  Role role;
  std::uint8_t size;
};

// clang-format off
constexpr PrototypeWord prototype_words[] = {
    {"void", Role::nothing, 0},           {"int", Role::signed_number, 4},
    {"short", Role::signed_number, 2},    {"long", Role::signed_number, 8},
    {"uint", Role::unsigned_number, 4},   {"ushort", Role::unsigned_number, 2},
    {"ulong", Role::unsigned_number, 8},  {"size", Role::unsigned_number, 8},
    {"hex", Role::hexadecimal, 8},        {"hex32", Role::hexadecimal, 4},
    {"oct", Role::octal, 4},              {"char", Role::character, 1},
    {"ptr", Role::pointer, 8},            {"str", Role::text, 8},
    {"buf", Role::bytes, 8},              {"fmt", Role::format, 8},
    {"enum", Role::enumeration, 4},       {"flags", Role::flags, 4},
    {"mode?", Role::created_mode, 4},     {"float", Role::floating, 4},
    {"double", Role::floating, 8},
};

// clang-format on

// "3", "ret", "2*3", "ret*2"; until integer_registers() an argument's number, counted from 1.
std::optional<std::uint8_t> length_of(std::string_view word) {
  if (word == "ret") {
    return tracso_length_is_result;
  }
  if (word == "2*3") {
    return tracso_length_is_product;
  }
  if (word == "ret*2") {
    return tracso_length_is_result_product;
  }
  const auto number = parse_unsigned(word);
  if (!number || *number == 0 || *number > tracso_argument_registers) {
    return std::nullopt;
  }
  return static_cast<std::uint8_t>(*number);
}

// "+buf:ret" "flags:open" "str"
std::optional<Type> type_of(std::string_view word, const Sets& sets) {
  Type type;
  if (word.starts_with('+')) {
    type.after = true;
    word.remove_prefix(1);
  }
  const auto colon = word.find(':');
  const auto name = word.substr(0, colon);
  const auto known = std::find_if(std::begin(prototype_words),
                                  std::end(prototype_words),
                                  [&](const PrototypeWord& one) { return one.name == name; });
  if (known == std::end(prototype_words)) {
    return std::nullopt;
  }
  type.role = known->role;
  type.size = known->size;
  const bool has_set = type.role == Role::enumeration || type.role == Role::flags;
  const bool points = type.role == Role::text || type.role == Role::bytes;
  const bool wants_parameter = has_set || type.role == Role::bytes;
  if ((colon == std::string_view::npos) == wants_parameter && !points) {
    return std::nullopt;
  }
  if (colon == std::string_view::npos) {
    return type.role != Role::bytes && (!type.after || points) ? std::optional(type) : std::nullopt;
  }
  const auto parameter = word.substr(colon + 1);
  if (has_set) {
    const auto set = sets.find(parameter);
    type.set = set == sets.end() ? nullptr : set->second.get();
    return type.set != nullptr && !type.after ? std::optional(type) : std::nullopt;
  }
  const auto length = points ? length_of(parameter) : std::nullopt;
  if (!length) {
    return std::nullopt;
  }
  type.length = *length;
  return type;
}

// Lengths by argument become lengths by integer register: before an argument there may be doubles.
bool name_registers(Prototype& prototype) {
  for (Type& type : prototype.arguments) {
    if (type.length == 0 || type.length > tracso_argument_registers) {
      continue;
    }
    if (type.length > prototype.arguments.size()) {
      return false;
    }
    const std::span before(prototype.arguments.data(), type.length);
    if (is_floating(before.back())) {
      return false;
    }
    type.length = static_cast<std::uint8_t>(
        type.length - std::count_if(before.begin(), before.end(), is_floating));
  }
  return true;
}

// "ssize read|__read(fd, +buf:ret, size)": the part in brackets and the result.
std::optional<Prototype> prototype_of(std::string_view result,
                                      std::string_view arguments,
                                      const Sets& sets) {
  Prototype prototype;
  const auto type = type_of(result, sets);
  if (!type || type->after || type->length != 0) {
    return std::nullopt;
  }
  prototype.result = *type;
  if (trim(arguments).empty()) {
    return prototype;
  }
  for (const auto word : split(arguments, ',')) {
    const auto argument = type_of(trim(word), sets);
    const bool ends =
        !prototype.arguments.empty() && prototype.arguments.back().role == Role::format;
    if (!argument || argument->role == Role::nothing || ends) {
      return std::nullopt;
    }
    prototype.arguments.push_back(*argument);
  }
  return name_registers(prototype) ? std::optional(prototype) : std::nullopt;
}

Error not_understood(std::size_t line, std::string_view text) {
  return {ErrorKind::malformed,
          "read",
          fmt::format("line {} of the prototypes", line),
          fmt::format("'{}' is not understood", printable(text)),
          ""};
}

}  // namespace

Result<Prototypes> Prototypes::parse(std::string_view text) {
  Prototypes all;
  std::size_t number = 0;
  for (const auto whole : split(text, '\n')) {
    ++number;
    const auto line = trim(whole.substr(0, whole.find('#')));
    if (line.empty()) {
      continue;
    }
    if (line.starts_with("set ")) {
      const auto colon = line.find(':');
      auto set = std::make_unique<ValueSet>();
      for (const auto word :
           split_words(colon == std::string_view::npos ? "?" : line.substr(colon + 1), " ")) {
        auto value = value_of(word);
        if (!value) {
          return not_understood(number, line);
        }
        set->values.push_back(std::move(*value));
      }
      all.sets_[std::string(trim(line.substr(4, colon - 4)))] = std::move(set);
      continue;
    }
    const auto open = line.find('(');
    const auto space = line.find(' ');
    if (open == std::string_view::npos || space >= open || !line.ends_with(')')) {
      return not_understood(number, line);
    }
    const auto prototype = prototype_of(
        line.substr(0, space), line.substr(open + 1, line.size() - open - 2), all.sets_);
    for (const auto name : split(trim(line.substr(space, open - space)), '|')) {
      const bool fits = !name.empty() && name.size() < tracso_capture_name_bytes;
      if (!prototype || !fits || !all.functions_.emplace(name, *prototype).second) {
        return not_understood(number, line);
      }
    }
  }
  return all;
}

const Prototypes& Prototypes::built_in() {
  static const Prototypes all = [] {
    auto parsed = parse(std::string(call_prototypes) + "\n" + system_call_prototypes());
    return parsed ? std::move(*parsed) : Prototypes();  // a test sees to it that it is understood
  }();
  return all;
}

const Prototype* Prototypes::find(std::string_view symbol) const {
  const auto found = functions_.find(symbol);
  return found == functions_.end() ? nullptr : &found->second;
}

void Prototypes::set(std::string_view symbol, Prototype prototype) {
  functions_.insert_or_assign(std::string(symbol), std::move(prototype));
}

ValueSet& Prototypes::add_set() {
  return *more_sets_.emplace_back(std::make_unique<ValueSet>());
}

Inside& Prototypes::add_inside() {
  return *insides_.emplace_back(std::make_unique<Inside>());
}

}  // namespace tracso::calls
