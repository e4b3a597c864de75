#pragma once
// Numbers of the relocations that hold the address of a symbol, by machine (<elf.h>, and the
// psABI of each processor).

#include <elf.h>

#include <cstdint>
#include <optional>

namespace tracso::elf {

struct RelocationTypes {
  std::uint64_t jump_slot = 0;  ///< of the PLT
  std::uint64_t glob_dat = 0;   ///< of the GOT
  std::uint64_t address = 0;    ///< of a word in data; where it equals glob_dat: of either
  std::uint64_t copy = 0;       ///< the value of a variable, copied into the program
};

/// nullopt: a machine that tracso does not know in this respect.
constexpr std::optional<RelocationTypes> relocation_types(std::uint16_t machine) {
  switch (machine) {
    case EM_X86_64:
      return RelocationTypes{R_X86_64_JUMP_SLOT, R_X86_64_GLOB_DAT, R_X86_64_64, R_X86_64_COPY};
    case EM_386:
      return RelocationTypes{R_386_JMP_SLOT, R_386_GLOB_DAT, R_386_32, R_386_COPY};
    case EM_AARCH64:
      return RelocationTypes{
          R_AARCH64_JUMP_SLOT, R_AARCH64_GLOB_DAT, R_AARCH64_ABS64, R_AARCH64_COPY};
    case EM_ARM:
      return RelocationTypes{R_ARM_JUMP_SLOT, R_ARM_GLOB_DAT, R_ARM_ABS32, R_ARM_COPY};
    case EM_RISCV:
      return RelocationTypes{R_RISCV_JUMP_SLOT, R_RISCV_64, R_RISCV_64, R_RISCV_COPY};
    case EM_S390:
      return RelocationTypes{R_390_JMP_SLOT, R_390_GLOB_DAT, R_390_64, R_390_COPY};
    default:
      return std::nullopt;
  }
}

}  // namespace tracso::elf
