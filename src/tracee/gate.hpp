#pragma once
// A gate in front of a function that does nothing and is there only to be stopped at: code that
// stands beside it and lets a thread through while a number of the program has a certain value,
// but notes when. Bytes only; x86-64.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tracso::tracee {

struct GatePlaces {
  std::uint64_t function = 0;  ///< its first instruction will lead to the gate
  std::uint64_t gate = 0;      ///< gate_bytes of room
  std::uint64_t number = 0;    ///< an int of the program
  std::uint64_t stamp = 0;     ///< 4 bytes that nobody uses: when a thread was let through
};

struct Gate {
  std::vector<std::uint8_t> entry;  ///< stands in for the beginning of the function
  std::vector<std::uint8_t> code;   ///< returns from the function, wherever it ends
  /// The return instruction of those that are not let through, with the stack as the function had
  /// it: here a breakpoint may stand.
  std::uint64_t stop = 0;
  /// Reads the clock, which a program can forbid itself (PR_SET_TSC); and what comes behind.
  std::uint64_t clock = 0, behind_clock = 0;
};

constexpr std::size_t gate_bytes = 32;

/// Lets through where the number is `passing`. nullopt: not on this processor, or too far away.
std::optional<Gate> make_gate(const GatePlaces& places, std::int8_t passing);

/// Is this the code of a function that does nothing, with room for Gate::entry? `code` begins with
/// it and goes on behind it, where there may be nothing but padding.
bool has_room_for_entry(std::span<const std::uint8_t> code);

/// The clock by which a gate stamps, 1024 cycles a unit; its lower half is the stamp. nullopt: not
/// on this processor.
std::optional<std::uint64_t> gate_clock();

}  // namespace tracso::tracee
