#pragma once
// Which subdirectories of a search directory the loader tries first, because of the CPU (ld.so(8),
// glibc sysdeps/x86/cpu-features.c, elf/dl-hwcaps.c).

#include "tracso/dynamic_section.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tracso::loader {

/// What matters of a CPU. All false: no claims are made.
struct CpuFacts {
  std::uint16_t machine = 0;  ///< e_machine of 64-bit programs it runs; 0: unknown
  bool intel = false;
  unsigned x86_level = 0;  ///< 1 x86-64, 2 x86-64-v2, 3, 4
  bool sse2 = false;
  bool haswell = false;  ///< AVX2, BMI, LZCNT, MOVBE, POPCNT: what $PLATFORM calls haswell
  bool avx512_1 = false;
  bool xeon_phi = false;
  std::uint32_t kernel = 0;  ///< version of the running kernel, 0x050a10 for 5.10.16; 0: unknown
  // What tunables leave of it, for the choice of directories alone.
  unsigned highest_searched = 4;                 ///< level
  std::uint64_t hwcap_mask = ~std::uint64_t{0};  ///< of the old hwcap names
  bool operator==(const CpuFacts&) const = default;
};

/// Registers of the x86 CPUID instruction, as far as they are asked for.
struct CpuidLeaves {
  std::string vendor;  ///< "GenuineIntel"
  std::uint32_t leaf1_ecx = 0, leaf1_edx = 0, leaf7_ebx = 0, extended1_ecx = 0;
  std::uint64_t xcr0 = 0;  ///< which register states the kernel saves; 0 without OSXSAVE
};

CpuFacts decode_cpuid(const CpuidLeaves& leaves);

/// The CPU that runs this code, and its kernel.
CpuFacts this_cpu();

/// What a loader of some version makes of a CPU.
struct Hwcaps {
  std::vector<std::string> names;           ///< glibc-hwcaps, best first: "x86-64-v3"
  std::vector<std::string> subdirectories;  ///< in the order tried, each ending in a slash:
                                            ///< "glibc-hwcaps/x86-64-v3/", "tls/x86_64/"
  std::string platform;                     ///< $PLATFORM; empty: no value
  std::uint32_t isa_level = 0;              ///< for cache entries: 0 baseline, 1 x86-64-v2 ...
  std::uint64_t hwcap_bits = 0;             ///< old bits that a cache entry may ask for
};

/// `minor` is the N of glibc 2.N, nullopt: taken as a current one. glibc-hwcaps came with 2.33, the
/// older scheme (tls, platform, hwcap names and all their combinations) went with 2.37. Nothing for
/// a program of another machine than the CPU's.
Hwcaps plan_hwcaps(ElfClass elf_class,
                   std::uint16_t machine,
                   std::optional<unsigned> minor,
                   const CpuFacts& cpu);

/// --glibc-hwcaps-prepend and --glibc-hwcaps-mask: names between colons that come first, and those
/// of the usual ones that stay. Empty texts change nothing.
void choose_hwcaps(std::string_view prepend, std::string_view mask, Hwcaps& plan);

}  // namespace tracso::loader
