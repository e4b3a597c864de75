#include "loader/cache_abi.hpp"

#include "loader/ld_cache.hpp"
#include "loader/loader_traits.hpp"

#include <elf.h>

#include <algorithm>
#include <array>

namespace tracso::loader {
namespace {

constexpr std::array<CacheAbi, 20> abis = {{
    {0x0001, "ELF"},
    {0x0003, "libc6"},
    {0x0103, "libc6,64bit"},  // SPARC
    {0x0203, "libc6,IA-64"},
    {0x0303, "libc6,x86-64"},
    {0x0403, "libc6,64bit"},  // S/390
    {0x0503, "libc6,64bit"},  // POWER
    {0x0603, "libc6,N32"},
    {0x0703, "libc6,64bit"},  // MIPS
    {0x0803, "libc6,x32"},
    {0x0903, "libc6,hard-float"},  // ARM
    {0x0a03, "libc6,AArch64"},
    {0x0b03, "libc6,soft-float"},  // ARM
    {0x0c03, "libc6,nan2008"},     // MIPS
    {0x0d03, "libc6,N32,nan2008"},
    {0x0e03, "libc6,64bit,nan2008"},
    {0x0f03, "libc6,soft-float"},    // RISC-V
    {0x1003, "libc6,double-float"},  // RISC-V
    {0x1103, "libc6,soft-float"},    // LoongArch
    {0x1203, "libc6,double-float"},  // LoongArch
}};

constexpr std::uint32_t loongarch_abi = 7;       // EF_LARCH_ABI_MODIFIER_MASK
constexpr std::uint32_t loongarch_double = 3;    // EF_LARCH_ABI_DOUBLE_FLOAT
constexpr std::uint32_t mips_nan2008 = 0x400;    // EF_MIPS_NAN2008
constexpr std::uint32_t mips_n32 = 0x20;         // EF_MIPS_ABI2
constexpr std::uint32_t arm_soft_float = 0x200;  // EF_ARM_ABI_FLOAT_SOFT

std::uint32_t mips_flags(bool wide, std::uint32_t e_flags) {
  const bool nan2008 = (e_flags & mips_nan2008) != 0;
  if (wide) {
    return nan2008 ? 0x0e03 : 0x0703;
  }
  if ((e_flags & mips_n32) != 0) {
    return nan2008 ? 0x0d03 : 0x0603;
  }
  return nan2008 ? 0x0c03 : generic_abi;
}

std::uint32_t flags_of(bool wide, std::uint16_t machine, std::uint32_t e_flags) {
  switch (machine) {
    case EM_X86_64:
      return wide ? 0x0303 : 0x0803;
    case EM_AARCH64:
      return 0x0a03;
    case EM_ARM:
      return (e_flags & arm_soft_float) != 0 ? 0x0b03 : 0x0903;
    case EM_PPC64:
      return 0x0503;
    case EM_S390:
      return wide ? 0x0403 : generic_abi;
    case EM_SPARCV9:
      return 0x0103;
    case EM_IA_64:
      return 0x0203;
    case EM_RISCV:
      return (e_flags & riscv_float_abi) == 0 ? 0x0f03 : 0x1003;
    case loongarch:
      return (e_flags & loongarch_abi) == loongarch_double ? 0x1203 : 0x1103;
    case EM_MIPS:
      return mips_flags(wide, e_flags);
    case EM_386:
    case EM_PPC:
    case EM_68K:
    case EM_SPARC:
      return generic_abi;
    default:
      return 0;
  }
}

}  // namespace

std::string_view cache_abi_text(std::uint32_t flags) {
  const auto* found =
      std::find_if(abis.begin(), abis.end(), [&](const CacheAbi& a) { return a.flags == flags; });
  return found == abis.end() ? std::string_view{} : found->text;
}

std::optional<CacheAbi> cache_abi(ElfClass elf_class,
                                  std::uint16_t machine,
                                  std::uint32_t e_flags) {
  const std::uint32_t flags = flags_of(elf_class == ElfClass::elf64, machine, e_flags);
  if (flags == 0) {
    return std::nullopt;
  }
  return CacheAbi{flags, cache_abi_text(flags)};
}

}  // namespace tracso::loader
