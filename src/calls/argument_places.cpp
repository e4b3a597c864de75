#include "calls/argument_places.hpp"

#include <algorithm>

namespace tracso::calls {
namespace {

constexpr std::uint32_t word_bytes = 8;
constexpr std::uint32_t floating_registers = 8;
constexpr std::uint32_t most_in_registers = 16;
constexpr std::uint32_t most_words = 1024;  // of a structure on the stack; of more nothing is shown

// Marks the words that hold anything but float and double.
void mark_integers(const Type& type, std::uint32_t offset, std::vector<bool>& floating) {
  if (type.role == Role::structure) {
    for (std::size_t i = 0; i < type.inside->fields.size(); ++i) {
      mark_integers(type.inside->fields[i], offset + type.inside->offsets[i], floating);
    }
    return;
  }
  const auto bytes = std::max<std::uint32_t>(bytes_of(type), 1);
  const bool is_number =
      is_floating(type) || (type.role == Role::array && is_floating(type.inside->fields.front()));
  for (auto at = offset / word_bytes; at <= (offset + bytes - 1) / word_bytes; ++at) {
    if (at < floating.size() && !is_number) {
      floating[at] = false;
    }
  }
}

}  // namespace

std::vector<bool> floating_words(const Type& structure) {
  const auto words = (bytes_of(structure) + word_bytes - 1) / word_bytes;
  std::vector<bool> floating(std::min(words, most_words), true);
  mark_integers(structure, 0, floating);
  return floating;
}

ArgumentWord ArgumentPlaces::integer() {
  return integers_ < tracso_argument_registers
             ? ArgumentWord{ArgumentWord::In::integer, integers_++}
             : ArgumentWord{ArgumentWord::In::stack, stack_++};
}

ArgumentWord ArgumentPlaces::floating() {
  return floatings_ < floating_registers ? ArgumentWord{ArgumentWord::In::floating, floatings_++}
                                         : ArgumentWord{ArgumentWord::In::stack, stack_++};
}

std::vector<ArgumentWord> ArgumentPlaces::next(const Type& type) {
  if (type.role != Role::structure && type.role != Role::text_view) {
    return {is_floating(type) ? floating() : integer()};
  }
  const auto words =
      type.role == Role::text_view ? std::vector<bool>(2, false) : floating_words(type);
  const auto wanted_floatings =
      static_cast<std::uint32_t>(std::count(words.begin(), words.end(), true));
  const auto wanted_integers = static_cast<std::uint32_t>(words.size()) - wanted_floatings;
  const bool in_registers = bytes_of(type) <= most_in_registers &&
                            integers_ + wanted_integers <= tracso_argument_registers &&
                            floatings_ + wanted_floatings <= floating_registers;
  std::vector<ArgumentWord> places;
  for (const bool is_floating_word : words) {
    places.push_back(!in_registers      ? ArgumentWord{ArgumentWord::In::stack, stack_++}
                     : is_floating_word ? floating()
                                        : integer());
  }
  return places;
}

ArgumentPlaces places_of(const Prototype& prototype) {
  ArgumentPlaces places;
  if (prototype.returns_in_memory) {
    places.integer();
  }
  return places;
}

PlacedWord word_at(const CallEvent& call, const ArgumentWord& place) {
  switch (place.in) {
    case ArgumentWord::In::integer:
      return {call.call.integer[place.number], static_cast<std::uint8_t>(place.number), true};
    case ArgumentWord::In::floating:
      return {call.call.floating[place.number], tracso_piece_result, true};
    default:
      if (place.number >= call.call.stack_words) {
        return {};
      }
      return {call.call.stack[place.number],
              static_cast<std::uint8_t>(tracso_piece_stack + place.number),
              true};
  }
}

}  // namespace tracso::calls
