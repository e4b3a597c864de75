// Line tables of code objects: bytes of a process' memory.
//
// Input: minor version, first line (2 bytes), offset (4 bytes), then the table.

#include "python/line_tables.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <span>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t head = 7;
  if (size < head) {
    return 0;
  }
  std::uint16_t first_line = 0;
  std::int32_t offset = 0;
  std::memcpy(&first_line, data + 1, sizeof first_line);
  std::memcpy(&offset, data + 3, sizeof offset);
  const std::uint32_t minor = 8U + data[0] % 8U;
  const auto table = std::as_bytes(std::span(data + head, size - head));
  const auto line = tracso::python::line_of_instruction(minor, table, first_line, offset);
  if (line > static_cast<std::uint32_t>(std::numeric_limits<std::int32_t>::max())) {
    std::abort();  // CPython's lines are ints
  }
  if (line != tracso::python::line_of_instruction(minor, table, first_line, offset)) {
    std::abort();
  }
  if (table.empty() && minor >= 10 && offset >= 0 && line != 0) {
    std::abort();  // a line out of nothing
  }
  return 0;
}
