#include "tracee/gate.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace tracso::tracee {

#if defined(__x86_64__)
namespace {

constexpr std::size_t entry_bytes = 5;
constexpr unsigned stamp_shift = 10;

// Puts code together whose operands lie at a distance from the next instruction.
class Assembler {
 public:
  explicit Assembler(std::uint64_t start) : at_(start) {}

  void add(std::initializer_list<std::uint8_t> bytes) { code_.insert(code_.end(), bytes); }

  // The operand `place`, of an instruction of which `left` bytes are still to come.
  void add_distance(std::uint64_t place, std::size_t left) {
    const auto distance = static_cast<std::int64_t>(place - (here() + 4 + left));
    const auto narrow = static_cast<std::int32_t>(distance);
    in_reach_ = in_reach_ && narrow == distance;
    std::array<std::uint8_t, 4> bytes{};
    std::memcpy(bytes.data(), &narrow, bytes.size());
    code_.insert(code_.end(), bytes.begin(), bytes.end());
  }

  std::uint64_t here() const { return at_ + code_.size(); }

  bool in_reach() const { return in_reach_; }

  std::vector<std::uint8_t> take() { return std::move(code_); }

 private:
  std::uint64_t at_;
  std::vector<std::uint8_t> code_;
  bool in_reach_ = true;
};

constexpr std::uint8_t return_code = 0xc3;

// Bytes of the no-operation that the code begins with (Intel SDM, NOP: the recommended ones; int3
// and zeros, by which some linkers fill gaps); 0: something else.
std::size_t padding(std::span<const std::uint8_t> code) {
  if (code.empty()) {
    return 0;
  }
  if (code[0] == 0x90 || code[0] == 0xcc || code[0] == 0) {
    return 1;
  }
  std::size_t at = 0;
  while (at < code.size() && (code[at] == 0x66 || code[at] == 0x2e)) {
    ++at;
  }
  if (at < code.size() && at > 0 && code[at] == 0x90) {
    return at + 1;
  }
  if (at + 2 >= code.size() || code[at] != 0x0f || code[at + 1] != 0x1f) {
    return 0;
  }
  switch (code[at + 2]) {
    case 0x00:
      return at + 3;
    case 0x40:
      return at + 4;
    case 0x44:
      return at + 5;
    case 0x80:
      return at + 7;
    case 0x84:
      return at + 8;
    default:
      return 0;
  }
}

}  // namespace

// cmpl $PASSING, number; jne stop; rdtsc; shrd $10, %edx, %eax; mov %eax, stamp; ret; stop: ret
// A function may change these registers and the flags.
std::optional<Gate> make_gate(const GatePlaces& places, std::int8_t passing) {
  Gate gate;
  Assembler entry(places.function);
  entry.add({0xe9});
  entry.add_distance(places.gate, 0);
  Assembler code(places.gate);
  code.add({0x83, 0x3d});
  code.add_distance(places.number, 1);
  constexpr std::uint8_t bytes_to_stop = 13;
  code.add({static_cast<std::uint8_t>(passing), 0x75, bytes_to_stop});
  gate.clock = code.here();
  code.add({0x0f, 0x31});
  gate.behind_clock = code.here();
  code.add({0x0f, 0xac, 0xd0, stamp_shift});
  code.add({0x89, 0x05});
  code.add_distance(places.stamp, 0);
  code.add({return_code});
  gate.stop = code.here();
  code.add({return_code});
  if (!entry.in_reach() || !code.in_reach()) {
    return std::nullopt;
  }
  gate.entry = entry.take();
  gate.code = code.take();
  return gate;
}

bool has_room_for_entry(std::span<const std::uint8_t> code) {
  constexpr std::array<std::uint8_t, 4> mark = {0xf3, 0x0f, 0x1e, 0xfa};  // endbr64
  constexpr std::array<std::uint8_t, 2> repeated = {0xf3, return_code};   // of g++ before 9
  std::size_t at = 0;
  if (code.size() > mark.size() && std::equal(mark.begin(), mark.end(), code.begin())) {
    at = mark.size();
  }
  if (code.size() - at > repeated.size() &&
      std::equal(repeated.begin(), repeated.end(), code.subspan(at).begin())) {
    ++at;
  }
  if (at >= code.size() || code[at] != return_code) {
    return false;
  }
  ++at;
  while (at < entry_bytes) {
    const std::size_t count = at < code.size() ? padding(code.subspan(at)) : 0;
    if (count == 0) {
      return false;
    }
    at += count;
  }
  return true;
}

std::optional<std::uint64_t> gate_clock() {
  return __builtin_ia32_rdtsc() >> stamp_shift;
}

#else

std::optional<Gate> make_gate(const GatePlaces& /*places*/, std::int8_t /*passing*/) {
  return std::nullopt;
}

bool has_room_for_entry(std::span<const std::uint8_t> /*code*/) {
  return false;
}

std::optional<std::uint64_t> gate_clock() {
  return std::nullopt;
}

#endif

}  // namespace tracso::tracee
