#pragma once
// What GLIBC_TUNABLES takes away of a CPU, and with it of the directories that the loader searches
// (glibc elf/dl-tunables.c, sysdeps/x86/cpu-tunables.c; the manual, "Hardware Capability
// Tunables").

#include "loader/hwcaps.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tracso::loader {

struct CpuTunables {
  std::vector<std::string> without;         ///< glibc.cpu.hwcaps: "AVX2" of "-AVX2"
  std::optional<std::uint64_t> hwcap_mask;  ///< glibc.cpu.hwcap_mask, or LD_HWCAP_MASK
  bool operator==(const CpuTunables&) const = default;
};

/// Of two equal names the last counts; GLIBC_TUNABLES counts before LD_HWCAP_MASK.
CpuTunables parse_cpu_tunables(std::string_view glibc_tunables, std::string_view ld_hwcap_mask);

/// The CPU as such a loader sees it when it chooses directories. Whether it takes a file that needs
/// a level of the CPU it decides by the CPU itself.
CpuFacts with_tunables(CpuFacts cpu, const CpuTunables& tunables);

}  // namespace tracso::loader
