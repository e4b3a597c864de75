#if defined(__x86_64__)

#include "tracee/gate.hpp"

#include "support/catch.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

using namespace tracso::tracee;

namespace {

using Code = std::vector<std::uint8_t>;
using Function = void (*)();

constexpr std::size_t room_bytes = 4096, function_at = 0, gate_at = 64, number_at = 512,
                      stamp_at = 516;

// A page with a function that leads to its gate.
class Room {
 public:
  Room()
      : bytes_(static_cast<std::uint8_t*>(mmap(nullptr,
                                               room_bytes,
                                               PROT_READ | PROT_WRITE | PROT_EXEC,
                                               MAP_PRIVATE | MAP_ANONYMOUS,
                                               -1,
                                               0))) {
    REQUIRE(bytes_ != MAP_FAILED);
    const auto start = reinterpret_cast<std::uint64_t>(bytes_);
    const auto made =
        make_gate({start + function_at, start + gate_at, start + number_at, start + stamp_at}, 1);
    REQUIRE(made);
    gate_ = *made;
    std::copy(gate_.entry.begin(), gate_.entry.end(), bytes_ + function_at);
    std::copy(gate_.code.begin(), gate_.code.end(), bytes_ + gate_at);
  }

  ~Room() { munmap(bytes_, room_bytes); }

  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;

  // The stamp that is left by a call with that number.
  std::uint32_t stamp_of_call(int number) {
    std::uint32_t stamp = 0;
    std::memcpy(bytes_ + number_at, &number, sizeof number);
    std::memcpy(bytes_ + stamp_at, &stamp, sizeof stamp);
    Function function = nullptr;
    std::uint8_t* const at = bytes_ + function_at;
    std::memcpy(&function, &at, sizeof function);
    function();
    std::memcpy(&stamp, bytes_ + stamp_at, sizeof stamp);
    return stamp;
  }

  std::uint8_t code_at(std::uint64_t address) const {
    return bytes_[address - reinterpret_cast<std::uint64_t>(bytes_)];
  }

  const Gate& gate() const { return gate_; }

 private:
  std::uint8_t* bytes_;
  Gate gate_;
};

}  // namespace

TEST_CASE("gate: lets through where the number is the one, and notes when", "[tracee]") {
  Room room;
  const auto before = static_cast<std::uint32_t>(gate_clock().value());
  const std::uint32_t stamp = room.stamp_of_call(1);
  const auto after = static_cast<std::uint32_t>(gate_clock().value());
  CHECK(stamp - before <= after - before);
  for (const int number : {0, 2, -1, 257}) {
    CAPTURE(number);
    CHECK(room.stamp_of_call(number) == 0);
  }
}

TEST_CASE("gate: the stop is a return, the clock an rdtsc", "[tracee]") {
  const Room room;
  CHECK(room.gate().code.size() <= gate_bytes);
  CHECK(room.code_at(room.gate().stop) == 0xc3);
  CHECK(room.code_at(room.gate().clock) == 0x0f);
  CHECK(room.code_at(room.gate().clock + 1) == 0x31);
}

TEST_CASE("gate: there is none where it would be out of reach", "[tracee]") {
  constexpr std::uint64_t far = std::uint64_t{3} << 30U, here = std::uint64_t{1} << 40U;
  CHECK(make_gate({here, here + 64, here + 512, here + 516}, 1));
  CHECK_FALSE(make_gate({here, here + far, here + far, here + far}, 1));
  CHECK_FALSE(make_gate({here, here + 64, here + far, here + 516}, 1));
  CHECK_FALSE(make_gate({here, here + 64, here + 512, here - far}, 1));
}

TEST_CASE("gate: a function that does nothing has room in the padding behind it", "[tracee]") {
  CHECK(has_room_for_entry(Code{0xf3, 0x0f, 0x1e, 0xfa, 0xc3}));
  CHECK(has_room_for_entry(Code{0xc3, 0x90, 0x90, 0x90, 0x90}));
  CHECK(has_room_for_entry(Code{0xc3, 0xcc, 0xcc, 0xcc, 0xcc}));
  CHECK(has_room_for_entry(Code{0xc3, 0, 0, 0, 0}));
  CHECK(has_room_for_entry(Code{0xc3, 0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0, 0x0f}));
  CHECK(has_room_for_entry(Code{0xc3, 0x0f, 0x1f, 0x40, 0}));
  CHECK(has_room_for_entry(Code{0xc3, 0x66, 0x90, 0x66, 0x90}));
  // repz ret, as in glibc 2.23 to 2.28.
  CHECK(has_room_for_entry(Code{0xf3, 0xc3, 0x0f, 0x1f, 0x40, 0, 0x66, 0x2e, 0x0f, 0x1f}));
}

TEST_CASE("gate: there is no room in another function", "[tracee]") {
  CHECK_FALSE(has_room_for_entry(Code{}));
  CHECK_FALSE(has_room_for_entry(Code{0xc3}));
  CHECK_FALSE(has_room_for_entry(Code{0xc3, 0x90, 0x90, 0x90}));
  CHECK_FALSE(has_room_for_entry(Code{0xf3}));
  CHECK_FALSE(has_room_for_entry(Code{0xf3, 0xc3}));
  CHECK_FALSE(has_room_for_entry(Code{0xf3, 0x90, 0xc3, 0x90, 0x90}));  // pause
  CHECK_FALSE(has_room_for_entry(Code{0x55, 0xc3, 0x90, 0x90, 0x90, 0x90}));
  CHECK_FALSE(has_room_for_entry(Code{0xc3, 0x55, 0x48, 0x89, 0xe5}));
  CHECK_FALSE(has_room_for_entry(Code{0xc3, 0x66, 0x0f, 0x6f, 0x07, 0xc3}));  // movdqa
  CHECK_FALSE(has_room_for_entry(Code{0xc3, 0x0f, 0xb6, 0xc0, 0xc3}));        // movzbl
  CHECK_FALSE(has_room_for_entry(Code{0xc3, 0x90, 0x90, 0x48, 0x8d}));
}

#endif
