#include "tracee/moved_instruction.hpp"

#include <algorithm>
#include <array>

namespace tracso::tracee {

#if defined(__x86_64__)
namespace {

// Intel SDM, volume 2, appendix A: which opcodes are followed by a ModRM byte.
bool one_byte_has_modrm(std::uint8_t opcode) {
  if (opcode < 0x40) {
    return (opcode & 7U) < 4;
  }
  switch (opcode) {
    case 0x63:
    case 0x69:
    case 0x6b:
    case 0xc0:
    case 0xc1:
    case 0xc6:
    case 0xc7:
    case 0xf6:
    case 0xf7:
    case 0xfe:
    case 0xff:
      return true;
    default:
      return (opcode >= 0x80 && opcode <= 0x8f) || (opcode >= 0xd0 && opcode <= 0xd3) ||
             (opcode >= 0xd8 && opcode <= 0xdf);
  }
}

bool two_byte_has_modrm(std::uint8_t opcode) {
  constexpr std::array<std::uint8_t, 12> without = {
      0x06, 0x08, 0x09, 0x0e, 0x77, 0xa0, 0xa1, 0xa2, 0xa8, 0xa9, 0x31, 0x33};
  return std::find(without.begin(), without.end(), opcode) == without.end() &&
         (opcode < 0x80 || opcode > 0x8f) && (opcode < 0xc8 || opcode > 0xcf);
}

// Into the kernel, into a breakpoint, or nowhere.
bool two_byte_must_stay(std::uint8_t opcode) {
  return opcode == 0x05 || opcode == 0x07 || opcode == 0x0b || opcode == 0x34 || opcode == 0x35;
}

bool one_byte_must_stay(std::uint8_t opcode) {
  constexpr std::array<std::uint8_t, 8> all = {0xca, 0xcb, 0xcc, 0xcd, 0xcf, 0xf1, 0xf4, 0x9c};
  return std::find(all.begin(), all.end(), opcode) != all.end();
}

bool is_prefix(std::uint8_t byte) {
  constexpr std::array<std::uint8_t, 11> all = {
      0x66, 0x67, 0xf2, 0xf3, 0xf0, 0x2e, 0x36, 0x3e, 0x26, 0x64, 0x65};
  return std::find(all.begin(), all.end(), byte) != all.end();
}

std::optional<MovedInstruction> with_modrm(std::span<const std::uint8_t> code, std::size_t at) {
  if (at >= code.size()) {
    return std::nullopt;
  }
  MovedInstruction moved;
  if ((code[at] & 0xc7U) == 0x05) {  // a distance from the next instruction
    moved.distance_at = at + 1;
  }
  return moved;
}

std::optional<MovedInstruction> of_one_byte(std::span<const std::uint8_t> code, std::size_t at) {
  const std::uint8_t opcode = code[at];
  if (one_byte_must_stay(opcode)) {
    return std::nullopt;
  }
  MovedInstruction moved;
  if (opcode == 0xc2 || opcode == 0xc3) {
    moved.absolute = true;
    return moved;
  }
  if (opcode == 0xe8) {
    moved.calls = true;
    return moved;
  }
  if (!one_byte_has_modrm(opcode)) {
    return moved;  // relative jumps too: from the copy they lead as far
  }
  auto with = with_modrm(code, at + 1);
  if (with && opcode == 0xff) {
    const unsigned kind = (code[at + 1] >> 3U) & 7U;
    with->calls = kind == 2;
    with->absolute = kind == 2 || kind == 4;
    if (kind == 3 || kind == 5) {
      return std::nullopt;  // far ones
    }
  }
  return with;
}

}  // namespace

std::optional<MovedInstruction> moved_instruction(std::span<const std::uint8_t> code) {
  std::size_t at = 0;
  while (at < code.size() && is_prefix(code[at])) {
    ++at;
  }
  if (at < code.size() && (code[at] & 0xf0U) == 0x40) {
    ++at;  // REX
  }
  if (at + 5 >= code.size()) {
    return std::nullopt;
  }
  switch (code[at]) {
    case 0xc5:  // VEX: the opcode comes after one byte, two, three (EVEX)
      return with_modrm(code, at + 3);
    case 0xc4:
      return with_modrm(code, at + 4);
    case 0x62:
      return with_modrm(code, at + 5);
    case 0x0f:
      break;
    default:
      return of_one_byte(code, at);
  }
  const std::uint8_t opcode = code[at + 1];
  if (two_byte_must_stay(opcode)) {
    return std::nullopt;
  }
  if (opcode == 0x38 || opcode == 0x3a) {
    return with_modrm(code, at + 3);
  }
  return two_byte_has_modrm(opcode) ? with_modrm(code, at + 2) : MovedInstruction{};
}

#else

std::optional<MovedInstruction> moved_instruction(std::span<const std::uint8_t> /*code*/) {
  return std::nullopt;
}

#endif

}  // namespace tracso::tracee
