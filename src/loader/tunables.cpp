#include "loader/tunables.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <array>

namespace tracso::loader {
namespace {

struct Feature {
  std::string_view name;
  unsigned level_left;  // the highest x86-64 level that does without
  bool haswell = false, avx512_1 = false, xeon_phi = false;
};

// Those that glibc's tunable knows by name. Others of a level (SSE3, CMPXCHG16B, LAHF, F16C) it
// does not, and passes over in silence.
constexpr std::array features{Feature{"SSSE3", 1},
                              Feature{"SSE4_1", 1},
                              Feature{"SSE4_2", 1},
                              Feature{"POPCNT", 1, true},
                              Feature{"AVX", 2},
                              Feature{"AVX2", 2, true},
                              Feature{"BMI1", 2, true},
                              Feature{"BMI2", 2, true},
                              Feature{"FMA", 2},
                              Feature{"LZCNT", 2, true},
                              Feature{"MOVBE", 2, true},
                              Feature{"AVX512F", 3},
                              Feature{"AVX512CD", 3, false, true, true},
                              Feature{"AVX512BW", 3, false, true},
                              Feature{"AVX512DQ", 3, false, true},
                              Feature{"AVX512VL", 3, false, true},
                              Feature{"AVX512ER", 4, false, false, true},
                              Feature{"AVX512PF", 4, false, false, true}};

// As strtoul reads it: hexadecimal, octal or decimal, up to what is no digit of that.
std::uint64_t leading_number(std::string_view text) {
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  const std::string_view digits = hex ? text.substr(2) : text;
  const int base = hex ? 16 : text.starts_with('0') ? 8 : 10;
  const std::string_view allowed = hex         ? "0123456789abcdefABCDEF"
                                   : base == 8 ? "01234567"
                                               : "0123456789";
  const auto end = digits.find_first_not_of(allowed);
  return parse_unsigned(digits.substr(0, end), base).value_or(0);
}

std::vector<std::string> features_off(std::string_view list) {
  std::vector<std::string> off;
  for (const std::string_view word : split(list, ',')) {
    if (word.starts_with('-')) {
      off.emplace_back(word.substr(1));
    }
  }
  return off;
}

}  // namespace

CpuTunables parse_cpu_tunables(std::string_view glibc_tunables, std::string_view ld_hwcap_mask) {
  CpuTunables tunables;
  if (!ld_hwcap_mask.empty()) {
    tunables.hwcap_mask = leading_number(ld_hwcap_mask);
  }
  for (const std::string_view one : split(glibc_tunables, ':')) {
    const auto equals = one.find('=');
    if (equals == std::string_view::npos) {
      continue;
    }
    const std::string_view name = one.substr(0, equals);
    const std::string_view value = one.substr(equals + 1);
    if (name == "glibc.cpu.hwcaps" || name == "glibc.tune.hwcaps") {  // the name up to 2.28
      tunables.without = features_off(value);
    } else if (name == "glibc.cpu.hwcap_mask" || name == "glibc.tune.hwcap_mask") {
      tunables.hwcap_mask = leading_number(value);
    }
  }
  return tunables;
}

CpuFacts with_tunables(CpuFacts cpu, const CpuTunables& tunables) {
  for (const std::string& name : tunables.without) {
    const auto known = std::find_if(features.begin(), features.end(), [&](const Feature& feature) {
      return feature.name == name;
    });
    if (known != features.end()) {
      cpu.highest_searched = std::min(cpu.highest_searched, known->level_left);
      cpu.haswell = cpu.haswell && !known->haswell;
      cpu.avx512_1 = cpu.avx512_1 && !known->avx512_1;
      cpu.xeon_phi = cpu.xeon_phi && !known->xeon_phi;
    }
  }
  cpu.hwcap_mask = tunables.hwcap_mask.value_or(cpu.hwcap_mask);
  return cpu;
}

}  // namespace tracso::loader
