#pragma once
// Where arguments lie: integers and doubles have registers of their own, then the stack; small
// structures are taken apart into both (System V ABI for AMD64, 3.2.3).

#include "calls/events.hpp"
#include "calls/prototypes.hpp"
#include "calls/types.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tracso::calls {

struct ArgumentWord {
  enum class In : std::uint8_t { integer, floating, stack } in = In::integer;
  std::uint32_t number = 0;
};

/// Gives the places of arguments in order.
class ArgumentPlaces {
 public:
  ArgumentWord integer();
  ArgumentWord floating();
  /// The words of an argument of that type, in the order of its bytes.
  std::vector<ArgumentWord> next(const Type& type);

  bool uses_stack() const { return stack_ != 0; }

 private:
  std::uint32_t integers_ = 0, floatings_ = 0, stack_ = 0;
};

/// Before the first argument: a hidden one may come before it.
ArgumentPlaces places_of(const Prototype& prototype);

/// For each eight bytes of a structure: whether it is passed in a floating-point register.
std::vector<bool> floating_words(const Type& structure);

/// A word of a call, and which of its pieces belongs to it.
struct PlacedWord {
  std::uint64_t word = 0;
  std::uint8_t of = tracso_piece_result;
  bool known = false;
};

PlacedWord word_at(const CallEvent& call, const ArgumentWord& place);

}  // namespace tracso::calls
