#include "loader/hwcaps.hpp"

#include "base/text.hpp"

#include <elf.h>
#include <sys/utsname.h>

#include <algorithm>
#include <array>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

namespace tracso::loader {
namespace {

constexpr unsigned first_with_glibc_hwcaps = 33;
constexpr unsigned last_with_legacy_hwcaps = 36;
constexpr unsigned current_minor = 40;

// Bits of cache entries: the CPU's hwcaps, one bit per platform from 48, and the mark of TLS.
constexpr std::uint64_t tls_bit = std::uint64_t{1} << 63U;
constexpr std::uint64_t i686_bit = std::uint64_t{1} << 49U;
constexpr std::uint64_t haswell_bit = std::uint64_t{1} << 50U;
constexpr std::uint64_t xeon_phi_bit = std::uint64_t{1} << 51U;

constexpr bool bit(std::uint64_t word, unsigned number) {
  return ((word >> number) & 1U) != 0;
}

unsigned x86_level(const CpuidLeaves& leaves, bool avx, bool avx512) {
  const std::uint32_t c = leaves.leaf1_ecx;
  const std::uint32_t b = leaves.leaf7_ebx;
  const std::uint32_t e = leaves.extended1_ecx;
  // CMPXCHG16B, LAHF/SAHF, POPCNT, SSE3, SSSE3, SSE4.1, SSE4.2
  if (!(bit(c, 13) && bit(e, 0) && bit(c, 23) && bit(c, 0) && bit(c, 9) && bit(c, 19) &&
        bit(c, 20))) {
    return 1;
  }
  // AVX, AVX2, BMI1, BMI2, F16C, FMA, LZCNT, MOVBE
  if (!(avx && bit(c, 28) && bit(b, 5) && bit(b, 3) && bit(b, 8) && bit(c, 29) && bit(c, 12) &&
        bit(e, 5) && bit(c, 22))) {
    return 2;
  }
  // AVX-512 F, DQ, CD, BW, VL
  return avx512 && bit(b, 16) && bit(b, 17) && bit(b, 28) && bit(b, 30) && bit(b, 31) ? 4 : 3;
}

// Every combination of the words in their order, the fullest first, none of them last and left out.
void add_combinations(std::vector<std::string>& to, const std::vector<std::string>& words) {
  const std::size_t count = words.size();
  for (std::size_t set = (std::size_t{1} << count) - 1; set > 0; --set) {
    std::string path;
    for (std::size_t i = 0; i < count; ++i) {
      if (bit(set, static_cast<unsigned>(count - 1 - i))) {
        path += words[i] + "/";
      }
    }
    if (std::find(to.begin(), to.end(), path) == to.end()) {
      to.push_back(path);
    }
  }
}

void plan_x86(Hwcaps& plan, bool wide, unsigned minor, const CpuFacts& cpu) {
  const bool phi = wide && cpu.intel && cpu.xeon_phi;
  const bool haswell = wide && cpu.intel && cpu.haswell && !phi;
  plan.platform = phi ? "xeon_phi" : haswell ? "haswell" : wide ? "x86_64" : "i686";
  if (wide && minor >= first_with_glibc_hwcaps) {
    for (unsigned level = std::min(cpu.x86_level, cpu.highest_searched); level >= 2; --level) {
      plan.names.push_back("x86-64-v" + std::to_string(level));
    }
    plan.isa_level = cpu.x86_level - 1;
  }
  if (minor > last_with_legacy_hwcaps) {
    return;
  }
  std::vector<std::string> words{"tls", plan.platform};
  plan.hwcap_bits = tls_bit | (phi ? xeon_phi_bit : haswell ? haswell_bit : 0);
  const auto add_hwcap = [&](const char* name, std::uint64_t hwcap) {
    if ((cpu.hwcap_mask & hwcap) != 0) {
      words.emplace_back(name);
      plan.hwcap_bits |= hwcap;
    }
  };
  if (wide) {
    if (cpu.intel && cpu.avx512_1) {
      add_hwcap("avx512_1", 4);
    }
    add_hwcap("x86_64", 2);
  } else {
    plan.hwcap_bits |= i686_bit;
    if (cpu.sse2) {
      add_hwcap("sse2", 1);
    }
  }
  add_combinations(plan.subdirectories, words);
}

std::vector<std::string> named_subdirectories(const std::vector<std::string>& names) {
  std::vector<std::string> named;
  for (const auto& name : names) {
    named.push_back("glibc-hwcaps/" + name + "/");
  }
  return named;
}

}  // namespace

CpuFacts decode_cpuid(const CpuidLeaves& leaves) {
  CpuFacts cpu;
  cpu.machine = EM_X86_64;
  cpu.intel = leaves.vendor == "GenuineIntel";
  cpu.sse2 = bit(leaves.leaf1_edx, 26);
  // A feature counts only if the kernel saves the registers it needs: SSE and AVX, then the three
  // parts of AVX-512.
  const bool avx = (leaves.xcr0 & 0x6U) == 0x6U;
  const bool avx512 = (leaves.xcr0 & 0xe6U) == 0xe6U;
  cpu.x86_level = x86_level(leaves, avx, avx512);
  const std::uint32_t b = leaves.leaf7_ebx;
  cpu.haswell = avx && bit(b, 5) && bit(b, 3) && bit(b, 8) && bit(leaves.extended1_ecx, 5) &&
                bit(leaves.leaf1_ecx, 22) && bit(leaves.leaf1_ecx, 23);
  const bool conflict_detection = avx512 && bit(b, 28);
  const bool exponential = bit(b, 27);
  cpu.xeon_phi = conflict_detection && exponential && bit(b, 26);
  cpu.avx512_1 = conflict_detection && !exponential && bit(b, 30) && bit(b, 17) && bit(b, 31);
  return cpu;
}

namespace {

#if defined(__x86_64__) || defined(__i386__)
CpuFacts this_processor() {
  CpuidLeaves leaves;
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  if (__get_cpuid(0, &a, &b, &c, &d) == 0) {
    return {};
  }
  for (const unsigned word : {b, d, c}) {
    for (unsigned shift = 0; shift < 32; shift += 8) {
      leaves.vendor.push_back(static_cast<char>((word >> shift) & 0xffU));
    }
  }
  if (__get_cpuid(1, &a, &b, &c, &d) != 0) {
    leaves.leaf1_ecx = c;
    leaves.leaf1_edx = d;
  }
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) != 0) {
    leaves.leaf7_ebx = b;
  }
  if (__get_cpuid(0x80000001U, &a, &b, &c, &d) != 0) {
    leaves.extended1_ecx = c;
  }
  if (bit(leaves.leaf1_ecx, 27)) {
    unsigned low = 0;
    unsigned high = 0;
    // XGETBV as such would need a compiler flag for the whole file.
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    leaves.xcr0 = (std::uint64_t{high} << 32U) | low;
  }
  return decode_cpuid(leaves);
}
#elif defined(__aarch64__)
CpuFacts this_processor() {
  CpuFacts cpu;
  cpu.machine = EM_AARCH64;
  return cpu;
}
#else
CpuFacts this_processor() {
  return {};
}
#endif

// "6.1.0-18-amd64" -> 0x060100
std::uint32_t this_kernel() {
  utsname names{};
  if (::uname(&names) != 0) {
    return 0;
  }
  std::string_view text = static_cast<const char*>(names.release);
  std::uint32_t version = 0;
  for (unsigned shift = 24; shift > 0;) {
    shift -= 8;
    const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    const auto part = parse_unsigned(text.substr(0, digits)).value_or(0);
    version |= static_cast<std::uint32_t>(std::min<std::uint64_t>(part, 0xff)) << shift;
    text.remove_prefix(digits);
    text.remove_prefix(text.starts_with('.') ? 1 : 0);
  }
  return version;
}

}  // namespace

CpuFacts this_cpu() {
  CpuFacts cpu = this_processor();
  cpu.kernel = this_kernel();
  return cpu;
}

Hwcaps plan_hwcaps(ElfClass elf_class,
                   std::uint16_t machine,
                   std::optional<unsigned> minor,
                   const CpuFacts& cpu) {
  Hwcaps plan;
  if (elf_class == ElfClass::none) {
    return plan;
  }
  const unsigned version = minor.value_or(current_minor);
  const bool wide = machine == EM_X86_64;
  if (cpu.machine == EM_X86_64 && (wide || machine == EM_386)) {
    plan_x86(plan, wide, version, cpu);
  } else if (cpu.machine == EM_AARCH64 && machine == EM_AARCH64) {
    plan.platform = "aarch64";
    if (version <= last_with_legacy_hwcaps) {
      add_combinations(plan.subdirectories, {"tls", plan.platform});
      plan.hwcap_bits = tls_bit;
    }
  }
  const auto named = named_subdirectories(plan.names);
  plan.subdirectories.insert(plan.subdirectories.begin(), named.begin(), named.end());
  return plan;
}

void choose_hwcaps(std::string_view prepend, std::string_view mask, Hwcaps& plan) {
  if (prepend.empty() && mask.empty()) {
    return;
  }
  std::vector<std::string> names;
  const auto add = [&](std::string_view name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      names.emplace_back(name);
    }
  };
  for (const auto name : split_words(prepend, ":")) {
    add(name);
  }
  const auto allowed = split_words(mask, ":");
  for (const auto& name : plan.names) {
    if (mask.empty() || std::find(allowed.begin(), allowed.end(), name) != allowed.end()) {
      add(name);
    }
  }
  const auto first_old =
      plan.subdirectories.begin() + static_cast<std::ptrdiff_t>(plan.names.size());
  plan.subdirectories.erase(plan.subdirectories.begin(), first_old);
  plan.names = std::move(names);
  const auto named = named_subdirectories(plan.names);
  plan.subdirectories.insert(plan.subdirectories.begin(), named.begin(), named.end());
}

}  // namespace tracso::loader
