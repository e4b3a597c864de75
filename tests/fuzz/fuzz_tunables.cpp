// Any bytes as GLIBC_TUNABLES and, behind the first newline, as LD_HWCAP_MASK.

#include "loader/tunables.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>

namespace {

using namespace tracso::loader;

void require(bool promise) {
  if (!promise) {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto newline = text.find('\n');
  const std::string tunables = text.substr(0, newline);
  const std::string mask = newline == std::string::npos ? "" : text.substr(newline + 1);
  const CpuTunables parsed = parse_cpu_tunables(tunables, mask);
  for (const std::string& feature : parsed.without) {
    require(tunables.find("-" + feature) != std::string::npos);
  }
  if (tunables.find("hwcap_mask") == std::string::npos && mask.empty()) {
    require(!parsed.hwcap_mask);
  }
  require(parsed == parse_cpu_tunables(tunables, mask));
  // A CPU can only lose by them.
  CpuFacts cpu;
  require(with_tunables(cpu, CpuTunables{}) == cpu);
  with_tunables(cpu, parsed);
  return 0;
}
