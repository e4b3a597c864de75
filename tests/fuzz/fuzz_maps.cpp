// /proc/PID/maps, stat, environ and auxv as foreign text: whatever stands there, parsing ends and
// stays inside.

#include "proc/auxv.hpp"
#include "proc/maps.hpp"
#include "proc/status.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto mappings = tracso::proc::parse_maps(text);
  if (mappings) {
    for (const auto& mapping : *mappings) {
      if (mapping.end < mapping.start || (mapping.deleted && !mapping.has_file())) {
        std::abort();
      }
    }
  }
  static_cast<void>(tracso::proc::parse_stat(text));
  static_cast<void>(tracso::proc::parse_environment(text));
  static_cast<void>(tracso::proc::status_value(text, "Uid"));
  static_cast<void>(tracso::proc::parse_auxv(text));
  return 0;
}
