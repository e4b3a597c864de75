#include "loader/hwcaps.hpp"

#include "support/catch.hpp"

namespace tracso::loader {
namespace {

constexpr std::uint16_t x86_64 = 62;
constexpr std::uint16_t i386 = 3;
constexpr std::uint16_t aarch64 = 183;

CpuFacts plain_cpu(unsigned level) {
  CpuFacts cpu;
  cpu.machine = x86_64;
  cpu.x86_level = level;
  cpu.sse2 = true;
  return cpu;
}

// Sapphire Rapids: every bit that is asked for, and the registers saved.
CpuidLeaves everything() {
  CpuidLeaves leaves;
  leaves.vendor = "GenuineIntel";
  leaves.leaf1_ecx = 0xffffffff;
  leaves.leaf1_edx = 0xffffffff;
  leaves.leaf7_ebx = 0xffffffff & ~((1U << 26U) | (1U << 27U));
  leaves.extended1_ecx = 0xffffffff;
  leaves.xcr0 = 0xe7;
  return leaves;
}

}  // namespace

TEST_CASE("hwcaps: levels of a CPU follow from its registers", "[loader][hwcaps]") {
  CHECK(decode_cpuid({}).x86_level == 1);
  CHECK(decode_cpuid(everything()).x86_level == 4);
  auto leaves = everything();
  leaves.leaf7_ebx &= ~(1U << 16U);  // no AVX-512
  CHECK(decode_cpuid(leaves).x86_level == 3);
  leaves.leaf1_ecx &= ~(1U << 12U);  // no FMA
  CHECK(decode_cpuid(leaves).x86_level == 2);
  leaves.leaf1_ecx &= ~(1U << 20U);  // no SSE4.2
  CHECK(decode_cpuid(leaves).x86_level == 1);
}

TEST_CASE("hwcaps: what the kernel does not save does not count", "[loader][hwcaps]") {
  auto leaves = everything();
  leaves.xcr0 = 0x7;
  CHECK(decode_cpuid(leaves).x86_level == 3);
  CHECK_FALSE(decode_cpuid(leaves).avx512_1);
  leaves.xcr0 = 0x3;
  CHECK(decode_cpuid(leaves).x86_level == 2);
  CHECK_FALSE(decode_cpuid(leaves).haswell);
}

TEST_CASE("hwcaps: current loaders know glibc-hwcaps alone", "[loader][hwcaps]") {
  const auto plan = plan_hwcaps(ElfClass::elf64, x86_64, 37, plain_cpu(3));
  CHECK(plan.subdirectories ==
        std::vector<std::string>{"glibc-hwcaps/x86-64-v3/", "glibc-hwcaps/x86-64-v2/"});
  CHECK(plan.isa_level == 2);
  CHECK(plan.platform == "x86_64");
  CHECK(plan_hwcaps(ElfClass::elf64, x86_64, std::nullopt, plain_cpu(3)).subdirectories ==
        plan.subdirectories);
  CHECK(plan_hwcaps(ElfClass::elf64, x86_64, 37, plain_cpu(1)).subdirectories.empty());
}

TEST_CASE("hwcaps: up to 2.36 the old combinations follow, the fullest first", "[loader][hwcaps]") {
  auto cpu = plain_cpu(1);
  cpu.intel = true;
  cpu.haswell = true;
  const auto plan = plan_hwcaps(ElfClass::elf64, x86_64, 36, cpu);
  CHECK(plan.platform == "haswell");
  CHECK(plan.subdirectories == std::vector<std::string>{"tls/haswell/x86_64/",
                                                        "tls/haswell/",
                                                        "tls/x86_64/",
                                                        "tls/",
                                                        "haswell/x86_64/",
                                                        "haswell/",
                                                        "x86_64/"});
}

TEST_CASE("hwcaps: before 2.33 there are no glibc-hwcaps", "[loader][hwcaps]") {
  const auto plan = plan_hwcaps(ElfClass::elf64, x86_64, 31, plain_cpu(3));
  CHECK(plan.names.empty());
  CHECK(plan.subdirectories ==
        std::vector<std::string>{
            "tls/x86_64/x86_64/", "tls/x86_64/", "tls/", "x86_64/x86_64/", "x86_64/"});
}

TEST_CASE("hwcaps: i386 has the old scheme with its own words", "[loader][hwcaps]") {
  const auto plan = plan_hwcaps(ElfClass::elf32, i386, 36, plain_cpu(4));
  CHECK(plan.platform == "i686");
  CHECK(plan.subdirectories ==
        std::vector<std::string>{
            "tls/i686/sse2/", "tls/i686/", "tls/sse2/", "tls/", "i686/sse2/", "i686/", "sse2/"});
  CHECK(plan_hwcaps(ElfClass::elf32, i386, 37, plain_cpu(4)).subdirectories.empty());
}

TEST_CASE("hwcaps: nothing is claimed for another machine than the CPU's", "[loader][hwcaps]") {
  const auto plan = plan_hwcaps(ElfClass::elf64, aarch64, 36, plain_cpu(4));
  CHECK(plan.subdirectories.empty());
  CHECK(plan.names.empty());
  CHECK(plan.platform == "");
  CHECK(plan_hwcaps(ElfClass::elf64, x86_64, 36, {}).subdirectories.empty());
}

}  // namespace tracso::loader
