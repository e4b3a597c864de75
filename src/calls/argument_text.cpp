#include "calls/argument_text.hpp"

#include "calls/format_conversion.hpp"
#include "calls/value_text.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace tracso::calls {
namespace {

constexpr std::size_t shown_unknown = 4;  // arguments of a function without a prototype, as ltrace

// Gives the arguments in order.
class Arguments {
 public:
  Arguments(const CallEvent& call, const Prototype& prototype)
      : call_(call), places_(places_of(prototype)) {}

  Value integer() { return word_at(call_, places_.integer()); }

  Value floating() { return word_at(call_, places_.floating()); }

  std::vector<Value> next(const Type& type) {
    std::vector<Value> values;
    for (const auto& place : places_.next(type)) {
      values.push_back(word_at(call_, place));
    }
    return values;
  }

 private:
  const CallEvent& call_;
  ArgumentPlaces places_;
};

using Shown = std::vector<ShownValue>;

// What stands for something of which no more can be told.
void add_unknown(Shown& shown, std::string text) {
  shown.push_back({std::move(text), {}, {}, false, nullptr});
}

void add_value(Shown& shown, const Value& value, const Type& type, const CallEvent& event) {
  shown.push_back({value_text(value, type, event),
                   type,
                   value,
                   true,
                   value.known ? event.piece(value.of) : nullptr});
}

void add_formatted(Shown& shown, std::string_view format, Arguments& from, const CallEvent& call) {
  constexpr Type plain_number{Role::signed_number, 4};
  constexpr Type number{Role::floating, sizeof(double)};
  for (std::size_t at = format.find('%'); at != std::string_view::npos; at = format.find('%', at)) {
    ++at;
    const auto conversion = next_conversion(format, at);
    if (conversion.numbered || conversion.letter == 0 || conversion.long_double) {
      add_unknown(shown, "...");
      return;
    }
    if (conversion.letter == '%' || conversion.letter == 'm') {
      continue;
    }
    for (std::size_t i = 0; i < conversion.stars; ++i) {
      add_value(shown, from.integer(), plain_number, call);
    }
    const bool floating = conversion.floating();
    add_value(shown,
              floating ? from.floating() : from.integer(),
              floating ? number : type_of(conversion),
              call);
  }
}

// The format and what it asks for. More of it was copied than is shown, for its end counts.
void add_format(Shown& shown,
                const Value& value,
                const Type& type,
                Arguments& from,
                const CallEvent& call,
                std::size_t text_bytes) {
  const Piece* piece = value.known ? call.piece(value.of) : nullptr;
  if (piece == nullptr || piece->state == tracso_piece_fault) {
    shown.push_back({value.known ? pointer_text(value.word) : "?", type, value, true, piece});
    return;
  }
  const bool cut = piece->state == tracso_piece_cut;
  const std::string_view format = piece->bytes;
  shown.push_back({quoted(format.substr(0, text_bytes), cut || format.size() > text_bytes),
                   type,
                   value,
                   true,
                   piece});
  add_formatted(shown, format, from, call);
  if (cut) {
    add_unknown(shown, "...");
  }
}

std::size_t first_filled_in(const Prototype& prototype) {
  const auto at = std::find_if(prototype.arguments.begin(),
                               prototype.arguments.end(),
                               [](const Type& type) { return type.after; });
  return static_cast<std::size_t>(at - prototype.arguments.begin());
}

std::string bytes_of(const std::vector<Value>& words) {
  std::string bytes;
  for (const auto& value : words) {
    if (!value.known) {
      break;
    }
    bytes.append(reinterpret_cast<const char*>(&value.word), sizeof value.word);  // NOLINT: bytes
  }
  return bytes;
}

bool is_inner(const Type& type) {
  return type.role == Role::reference || type.role == Role::structure ||
         type.role == Role::text_object || type.role == Role::text_view;
}

// A structure, or a pointer to something that has parts.
void add_inner(Shown& shown,
               const Type& type,
               const std::vector<Value>& words,
               const ShownCall& call) {
  InnerText texts(call, type.after && call.result != nullptr);
  Value value = words.empty() ? Value{} : words.back();
  std::string text = "?";
  if (type.role == Role::structure) {
    text = texts.value(type, bytes_of(words));
    value.known = false;
  } else if (value.known && type.role == Role::text_view) {
    text = texts.view(words.front().word, value.word, value.of);
  } else if (value.known) {
    text = texts.pointer(type, value.word, value.of);
  }
  shown.push_back({std::move(text), type, value, true, nullptr});
}

// Those from `first` to before `end`. Without a result, what the function fills in is not there.
Shown shown_of(const ShownCall& call, std::size_t first, std::size_t end) {
  Shown shown;
  Arguments from(call.call, call.prototype);
  bool creates = false;
  for (std::size_t i = 0; i < end; ++i) {
    const Type& type = call.prototype.arguments[i];
    const auto words = from.next(type);
    const Value value = words.size() == 1 ? words.front() : Value{};
    if (type.role == Role::flags) {
      constexpr std::uint64_t create = 0100;
      constexpr std::uint64_t temporary = 020000000;
      creates = (value.word & (create | temporary)) != 0;
    }
    if (i < first || type.hidden || (type.role == Role::created_mode && !creates)) {
      continue;
    }
    if (type.role == Role::format) {
      add_format(shown, value, type, from, call.call, call.limits.text_bytes);
    } else if (is_inner(type)) {
      add_inner(shown, type, words, call);
    } else {
      const bool after = type.after && call.result != nullptr;
      add_value(shown, value, type, after ? *call.result : call.call);
    }
  }
  if (end == call.prototype.arguments.size() && call.prototype.more) {
    add_unknown(shown, "...");
  }
  return shown;
}

Shown words_of(const CallEvent& call) {
  Shown shown;
  for (std::size_t i = 0; i < shown_unknown; ++i) {
    const Value value{call.call.integer[i], static_cast<std::uint8_t>(i), true};
    shown.push_back({word_text(value.word), {}, value, false, nullptr});
  }
  return shown;
}

std::string joined(const Shown& shown) {
  std::string texts;
  for (const auto& one : shown) {
    texts += (texts.empty() ? "" : ", ") + one.text;
  }
  return texts;
}

}  // namespace

namespace {

bool is_pointer(const Type& type) {
  return type.role == Role::pointer || type.role == Role::reference ||
         type.role == Role::text_object;
}

// What a C++ name does not say: whether there is a hidden first argument, the place of the result.
// A function with one returns it; one that returns something else has none. `room` is for the
// answer. nullptr: it cannot be told, for the first argument may be what is returned, too.
const Prototype* settled(const CallEvent& call,
                         const CallEvent* result,
                         const Prototype* prototype,
                         Prototype& room) {
  if (prototype == nullptr || !prototype->from_name || !prototype->may_return_in_memory) {
    return prototype;
  }
  if (result == nullptr) {
    return nullptr;
  }
  const auto first = call.call.integer[0];
  const Piece* there = call.piece(tracso_piece_node);
  if (first == 0 || result->result.integer != first || there == nullptr ||
      there->state == tracso_piece_fault) {
    return prototype;
  }
  const auto words = std::find_if(prototype->arguments.begin(),
                                  prototype->arguments.end(),
                                  [](const Type& type) { return !is_floating(type); });
  if (words != prototype->arguments.end() && is_pointer(*words)) {
    return nullptr;
  }
  room = *prototype;
  room.returns_in_memory = true;
  return &room;
}

}  // namespace

ArgumentTexts arguments_at_call(const CallEvent& call,
                                const Prototype* prototype,
                                const ShownLimits& limits) {
  if (prototype != nullptr && prototype->from_name && prototype->may_return_in_memory) {
    const bool returns = call.kind == tracso_event_call;
    return {returns ? "" : joined(words_of(call)), returns};
  }
  if (prototype == nullptr) {
    return {joined(words_of(call)), false};
  }
  const auto filled_in = first_filled_in(*prototype);
  return {joined(shown_of({call, nullptr, *prototype, limits}, 0, filled_in)),
          filled_in != prototype->arguments.size()};
}

std::string arguments_at_return(const CallEvent& call,
                                const CallEvent& result,
                                const Prototype* prototype,
                                const ShownLimits& limits) {
  Prototype room;
  if (prototype != nullptr && prototype->from_name && prototype->may_return_in_memory) {
    const auto* what = settled(call, &result, prototype, room);
    return joined(what == nullptr
                      ? words_of(call)
                      : shown_of({call, &result, *what, limits}, 0, what->arguments.size()));
  }
  const auto filled_in = prototype == nullptr ? 0 : first_filled_in(*prototype);
  if (prototype == nullptr || filled_in == prototype->arguments.size()) {
    return "";
  }
  const auto texts =
      joined(shown_of({call, &result, *prototype, limits}, filled_in, prototype->arguments.size()));
  const bool first =
      std::all_of(prototype->arguments.begin(),
                  prototype->arguments.begin() + static_cast<std::ptrdiff_t>(filled_in),
                  [](const Type& type) { return type.hidden; });
  return (first || texts.empty() ? "" : ", ") + texts;
}

std::vector<ShownValue> shown_arguments(const CallEvent& call,
                                        const CallEvent* result,
                                        const Prototype* prototype,
                                        const ShownLimits& limits) {
  Prototype room;
  const auto* what = settled(call, result, prototype, room);
  return what == nullptr ? words_of(call)
                         : shown_of({call, result, *what, limits}, 0, what->arguments.size());
}

namespace {

// The first eight bytes of each class come back in rax and xmm0; what follows them is not recorded.
std::string returned_bytes(const CallEvent& result, const Type& structure) {
  std::string bytes;
  bool integer_taken = false;
  bool floating_taken = false;
  for (const bool floating : floating_words(structure)) {
    auto& taken = floating ? floating_taken : integer_taken;
    if (std::exchange(taken, true)) {
      break;
    }
    const auto word = floating ? result.result.floating : result.result.integer;
    bytes.append(reinterpret_cast<const char*>(&word), sizeof word);  // NOLINT: bytes
  }
  return bytes;
}

}  // namespace

std::optional<ShownValue> shown_result(const CallEvent* call,
                                       const CallEvent& result,
                                       const Prototype* prototype,
                                       const ShownLimits& limits) {
  Value value{result.result.integer, tracso_piece_result, true};
  if (prototype == nullptr || prototype->result.role == Role::unknown) {
    return ShownValue{word_text(value.word), {}, value, false, nullptr};
  }
  const Type& type = prototype->result;
  if (type.role == Role::nothing) {
    return std::nullopt;
  }
  if (is_inner(type)) {
    const CallEvent unseen;
    const ShownCall shown{call == nullptr ? unseen : *call, &result, *prototype, limits};
    InnerText texts(shown, /*after=*/true);
    const bool by_value = type.role == Role::structure;
    value.known = !by_value;
    return ShownValue{by_value ? texts.value(type, returned_bytes(result, type))
                               : texts.pointer(type, value.word, tracso_node_result),
                      type,
                      value,
                      true,
                      nullptr};
  }
  value.word = is_floating(type) ? result.result.floating : value.word;
  const bool null = value.word == 0 && type.role == Role::pointer;
  return ShownValue{
      null ? "0" : value_text(value, type, result), type, value, true, result.piece(value.of)};
}

std::string result_text(const CallEvent* call,
                        const CallEvent& result,
                        const Prototype* prototype,
                        const ShownLimits& limits) {
  const auto shown = shown_result(call, result, prototype, limits);
  return shown ? shown->text : "<void>";
}

}  // namespace tracso::calls
