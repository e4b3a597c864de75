#include "calls/events.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

namespace tracso::calls {
namespace {

// Takes values off the front of an event.
class Taker {
 public:
  explicit Taker(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <class T>
  bool take(T& into) {
    if (rest_.size() < sizeof into) {
      return false;
    }
    std::memcpy(&into, rest_.data(), sizeof into);
    rest_ = rest_.subspan(sizeof into);
    return true;
  }

  bool take(std::string& into, std::size_t bytes) {
    constexpr std::size_t alignment = 8;
    const auto filled = (bytes + alignment - 1) / alignment * alignment;
    if (bytes > rest_.size() || filled > rest_.size()) {
      return false;
    }
    into.assign(reinterpret_cast<const char*>(rest_.data()), bytes);  // NOLINT: bytes to char
    rest_ = rest_.subspan(filled);
    return true;
  }

 private:
  std::span<const std::byte> rest_;
};

bool take_pieces(Taker& taker, std::uint16_t count, std::vector<Piece>& into) {
  if (count > tracso_most_pieces) {
    return false;
  }
  for (std::uint16_t i = 0; i < count; ++i) {
    tracso_piece head{};
    Piece piece;
    if (!taker.take(head) || head.bytes > tracso_most_text_bytes ||
        !taker.take(piece.bytes, head.bytes)) {
      return false;
    }
    piece.of = head.of;
    piece.state = head.state;
    into.push_back(std::move(piece));
  }
  return true;
}

std::optional<CallEvent> event_of(const tracso_event& head, std::span<const std::byte> bytes) {
  CallEvent event;
  event.kind = head.kind;
  event.slot = head.slot;
  event.thread = static_cast<std::int32_t>(head.thread);
  event.ticks = head.ticks;
  event.place = head.place;
  Taker taker(bytes);
  const bool is_call = head.kind == tracso_event_call || head.kind == tracso_event_only;
  const bool is_return = head.kind == tracso_event_return;
  const bool whole = (is_call && taker.take(event.call)) || (is_return && taker.take(event.result));
  if (!whole || !take_pieces(taker, head.pieces, event.pieces)) {
    return std::nullopt;
  }
  event.call.stack_words =
      std::min<std::uint64_t>(event.call.stack_words, std::uint64_t{tracso_stack_words});
  return event;
}

}  // namespace

const Piece* CallEvent::piece(std::uint8_t of) const {
  const auto found = std::find_if(
      pieces.begin(), pieces.end(), [of](const Piece& piece) { return piece.of == of; });
  return found == pieces.end() ? nullptr : &*found;
}

bool parse_events(std::span<const std::byte> bytes,
                  std::uint64_t position,
                  std::vector<CallEvent>& into) {
  constexpr std::uint32_t alignment = 8;
  while (!bytes.empty()) {
    const auto before_end =
        static_cast<std::size_t>(tracso_ring_bytes - position % tracso_ring_bytes);
    std::size_t length = 0;
    if (before_end < sizeof(tracso_event)) {
      length = before_end;  // too little for a head: the next event stands at the beginning
    } else {
      tracso_event head{};
      if (bytes.size() < sizeof head) {
        return false;
      }
      std::memcpy(&head, bytes.data(), sizeof head);
      length = head.bytes;
      if (length < sizeof head || length % alignment != 0 || length > bytes.size() ||
          length > before_end) {
        return false;
      }
      if (head.kind != tracso_event_filler) {
        auto event = event_of(head, bytes.subspan(sizeof head, length - sizeof head));
        if (!event) {
          return false;
        }
        into.push_back(std::move(*event));
      }
    }
    if (length > bytes.size()) {
      return false;
    }
    bytes = bytes.subspan(length);
    position += length;
  }
  return true;
}

}  // namespace tracso::calls
