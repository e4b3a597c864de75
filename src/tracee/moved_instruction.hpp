#pragma once
// An instruction carried out at another place than its own: so a thread gets past a breakpoint that
// stays where it is, and no other thread has to wait.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace tracso::tracee {

/// Longer ones do not exist; as many bytes are written at the other place.
constexpr std::size_t longest_instruction = 15;

struct MovedInstruction {
  /// Where it leads to does not depend on where it stands (ret, jmp *%rax); else the thread goes on
  /// as far from the original as it would have from the copy.
  bool absolute = false;
  bool calls = false;  ///< it stores a return address, which is that of the copy
  /// The 4 bytes at this offset are a distance from it; nullopt: it has none.
  std::optional<std::size_t> distance_at;
  bool operator==(const MovedInstruction&) const = default;
};

/// nullopt: it must be carried out where it stands, or this processor's are not known. `code`: what
/// stands there, at least as long as the instruction.
std::optional<MovedInstruction> moved_instruction(std::span<const std::uint8_t> code);

}  // namespace tracso::tracee
