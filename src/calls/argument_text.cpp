#include "calls/argument_text.hpp"

#include "calls/format_conversion.hpp"
#include "calls/value_text.hpp"

#include <algorithm>

namespace tracso::calls {
namespace {

constexpr std::size_t shown_unknown = 4;  // arguments of a function without a prototype, as ltrace

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
    for (std::size_t i = 0; i < conversion.stars; ++i) {
      add(texts, value_text(from.integer(), plain_number, call));
    }
    const bool floating = conversion.floating();
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

}  // namespace

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
