// 64-bit Arm. Written from the kernel's headers (struct user_pt_regs) and the instruction set;
// not run on such a machine yet.
#if defined(__aarch64__)

#include "tracee/architecture.hpp"

#include <array>

namespace tracso::tracee {

std::optional<RegisterLayout> register_layout(std::size_t bytes) {
  // x0 to x30, sp, pc, pstate. 32-bit programs have another size and stay unknown.
  constexpr std::size_t words = 34;
  if (bytes != words * 8) {
    return std::nullopt;
  }
  return RegisterLayout{8,
                        32 * 8,
                        31 * 8,
                        8 * 8,
                        30 * 8,
                        93,
                        std::array<std::size_t, 6>{0 * 8, 1 * 8, 2 * 8, 3 * 8, 4 * 8, 5 * 8},
                        std::nullopt};
}

// Functions begin with stp, which stores two registers: to be written with a machine to try it on.
std::optional<EntryInstruction> entry_instruction(std::span<const std::uint8_t>, std::size_t) {
  return std::nullopt;
}

std::vector<std::uint64_t> places_of_arguments(const VariableArguments&, std::size_t) {
  return {};
}

std::optional<std::uint64_t> returned_thread_offset(std::span<const std::uint8_t>) {
  return std::nullopt;
}

bool fails_after_a_stop(std::uint64_t) {
  return false;
}

std::span<const std::uint8_t> breakpoint_code() {
  static constexpr std::array<std::uint8_t, 4> brk_0 = {0x00, 0x00, 0x20, 0xd4};
  return brk_0;
}

std::optional<std::uint8_t> return_byte() {
  return std::nullopt;
}

std::uint64_t breakpoint_advance() {
  return 0;
}

}  // namespace tracso::tracee

#endif
