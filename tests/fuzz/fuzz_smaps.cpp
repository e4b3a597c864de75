// /proc/PID/smaps as foreign text.

#include "proc/smaps.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto costs = tracso::proc::parse_smaps(text);
  if (costs) {
    for (const auto& cost : *costs) {
      if (cost.mapping.end < cost.mapping.start) {
        std::abort();
      }
    }
  }
  return 0;
}
