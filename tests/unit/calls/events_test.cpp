#include "calls/events.hpp"

#include "support/catch.hpp"

#include <cstring>
#include <random>
#include <string>
#include <vector>

using namespace tracso::calls;

namespace {

using Bytes = std::vector<std::byte>;

template <class T>
void append(Bytes& bytes, const T& value) {
  const auto at = bytes.size();
  bytes.resize(at + sizeof value);
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

Bytes call(const std::string& text, std::uint32_t slot = 7) {
  Bytes bytes;
  const auto filled = (text.size() + 7) / 8 * 8;
  tracso_event head{};
  head.bytes = static_cast<std::uint32_t>(sizeof head + sizeof(tracso_call_words) +
                                          sizeof(tracso_piece) + filled);
  head.kind = tracso_event_call;
  head.pieces = 1;
  head.slot = slot;
  head.thread = 42;
  head.ticks = 1000;
  head.place = 0x7fff0008;
  append(bytes, head);
  tracso_call_words words{};
  words.integer[0] = 0x1234;
  words.stack_words = 99;
  append(bytes, words);
  append(bytes, tracso_piece{0, tracso_piece_cut, 0, static_cast<std::uint32_t>(text.size())});
  const auto at = bytes.size();
  bytes.resize(at + filled);
  std::memcpy(bytes.data() + at, text.data(), text.size());
  return bytes;
}

tracso_event& head_of(Bytes& bytes) {
  return *reinterpret_cast<tracso_event*>(bytes.data());  // NOLINT: made of one above
}

}  // namespace

TEST_CASE("call events: what was written is read", "[calls]") {
  auto bytes = call("hello");
  const auto second = call("", 8);
  bytes.insert(bytes.end(), second.begin(), second.end());
  std::vector<CallEvent> events;
  REQUIRE(parse_events(bytes, 0, events));
  REQUIRE(events.size() == 2);
  CHECK(events[0].slot == 7);
  CHECK(events[0].thread == 42);
  CHECK(events[0].call.integer[0] == 0x1234);
  CHECK(events[0].call.stack_words == tracso_stack_words);
  REQUIRE(events[0].piece(0) != nullptr);
  CHECK(events[0].piece(0)->bytes == "hello");
  CHECK(events[0].piece(1) == nullptr);
  CHECK(events[1].slot == 8);
}

TEST_CASE("call events: the end of the ring is stepped over", "[calls]") {
  const auto event = call("x");
  for (const std::uint64_t left : {8U, 24U}) {  // no room for a head
    Bytes bytes(left);
    bytes.insert(bytes.end(), event.begin(), event.end());
    std::vector<CallEvent> events;
    CHECK(parse_events(bytes, 5 * std::uint64_t{tracso_ring_bytes} - left, events));
    CHECK(events.size() == 1);
  }
  Bytes bytes(64);
  head_of(bytes).bytes = 64;
  head_of(bytes).kind = tracso_event_filler;
  bytes.insert(bytes.end(), event.begin(), event.end());
  std::vector<CallEvent> events;
  CHECK(parse_events(bytes, std::uint64_t{tracso_ring_bytes} - 64, events));
  CHECK(events.size() == 1);
}

TEST_CASE("call events: torn and forged ones end the reading", "[calls]") {
  const auto good = call("hello");
  const auto is_read = [](const Bytes& bytes, std::uint64_t position = 0) {
    std::vector<CallEvent> events;
    return parse_events(bytes, position, events);
  };
  for (std::size_t length = 1; length < good.size(); ++length) {
    CHECK_FALSE(is_read(Bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(length))));
  }
  for (const std::uint32_t length : {0U, 8U, 31U, 33U, 0x7fffffffU, 0xffffffffU}) {
    auto bytes = good;
    head_of(bytes).bytes = length;
    CHECK_FALSE(is_read(bytes));
  }
  auto many = good;
  head_of(many).pieces = 2;
  CHECK_FALSE(is_read(many));
  head_of(many).pieces = 0xffff;
  CHECK_FALSE(is_read(many));
  auto kind = good;
  head_of(kind).kind = 9;
  CHECK_FALSE(is_read(kind));
  auto piece = good;
  const std::uint32_t huge = 0xfffffff0;
  std::memcpy(
      piece.data() + sizeof(tracso_event) + sizeof(tracso_call_words) + 4, &huge, sizeof huge);
  CHECK_FALSE(is_read(piece));
  CHECK_FALSE(is_read(good, std::uint64_t{tracso_ring_bytes} - 40));  // runs over the end
  CHECK_FALSE(is_read(Bytes(8), std::uint64_t{tracso_ring_bytes} - 16));
}

TEST_CASE("call events: random bytes do no harm", "[calls]") {
  std::mt19937_64 random(1);  // NOLINT: the same every time
  for (int round = 0; round < 20000; ++round) {
    auto bytes = call("hello");
    const auto more = call("world");
    bytes.insert(bytes.end(), more.begin(), more.end());
    for (int i = 0; i < 4; ++i) {
      bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    }
    std::vector<CallEvent> events;
    parse_events(bytes, random(), events);
    CHECK(events.size() <= 2);
  }
}
