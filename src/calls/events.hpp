#pragma once
// Events of a ring, from the bytes that an agent wrote. The process it is in could have written
// anything: what is not well-formed ends the reading and is told.

#include "agent/shared_layout.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tracso::calls {

/// What a pointer led to.
struct Piece {
  std::uint8_t of = 0;  ///< enum tracso_piece_of
  std::uint8_t state = tracso_piece_whole;
  std::string bytes;
};

struct CallEvent {
  std::uint16_t kind = tracso_event_call;
  std::uint32_t slot = 0;
  std::int32_t thread = 0;
  std::uint64_t ticks = 0;
  std::uint64_t place = 0;       ///< on the stack, the same in a call and its return
  tracso_call_words call{};      ///< of a call
  tracso_return_words result{};  ///< of a return
  std::vector<Piece> pieces;

  /// nullptr: nothing was copied for it.
  const Piece* piece(std::uint8_t of) const;
};

/// Adds the events. `bytes` stood in the ring from `position` on, unwrapped. false: from some event
/// on they are no events.
bool parse_events(std::span<const std::byte> bytes,
                  std::uint64_t position,
                  std::vector<CallEvent>& into);

}  // namespace tracso::calls
