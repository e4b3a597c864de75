#include "collect/target_cpu.hpp"

#include "tracso/snapshot.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <vector>

namespace tracso {

loader::CpuFacts cpu_of_target(const std::string& text) {
  if (text.empty()) {
    return loader::this_cpu();
  }
  std::vector<std::uint64_t> numbers;
  for (const std::string_view word : split_words(text, " ")) {
    numbers.push_back(parse_unsigned(word).value_or(0));
  }
  numbers.resize(8);
  loader::CpuFacts cpu;
  cpu.machine = static_cast<std::uint16_t>(numbers[0]);
  cpu.intel = numbers[1] != 0;
  cpu.x86_level = static_cast<unsigned>(numbers[2]);
  cpu.sse2 = numbers[3] != 0;
  cpu.haswell = numbers[4] != 0;
  cpu.avx512_1 = numbers[5] != 0;
  cpu.xeon_phi = numbers[6] != 0;
  cpu.kernel = static_cast<std::uint32_t>(numbers[7]);
  return cpu;
}

std::string cpu_text() {
  const loader::CpuFacts cpu = loader::this_cpu();
  return fmt::format("{} {:d} {} {:d} {:d} {:d} {:d} {}",
                     cpu.machine,
                     cpu.intel,
                     cpu.x86_level,
                     cpu.sse2,
                     cpu.haswell,
                     cpu.avx512_1,
                     cpu.xeon_phi,
                     cpu.kernel);
}

}  // namespace tracso
