// A saved list of descriptors that `tracso diff` is given.

#include "graph/fds_json.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  static_cast<void>(tracso::read_fds_json(text, "x"));
  return 0;
}
