// Three forms of one idea: the instructions are cut into ranges, and each range says how far its
// line is from that of the range before.
//
//   3.8, 3.9   pairs (bytes to the next range, line delta), and the range of the first line is not
//              written: a pair stands *between* two ranges
//   3.10       pairs (bytes of the range, line delta), -128: the range has no line
//   3.11       an entry of 2 to many bytes; only the first has its highest bit set:
//              1 | kind (4 bits) | instructions - 1 (3 bits), then the delta and columns by kind

#include "python/line_tables.hpp"

#include <limits>

namespace tracso::python {
namespace {

constexpr std::int64_t instruction_bytes = 2;

std::uint32_t as_line(std::int64_t line) {
  const bool sensible = line > 0 && line <= std::numeric_limits<std::int32_t>::max();
  return sensible ? static_cast<std::uint32_t>(line) : 0;
}

std::int64_t unsigned_at(std::span<const std::byte> table, std::size_t at) {
  return std::to_integer<std::uint8_t>(table[at]);
}

std::int64_t signed_at(std::span<const std::byte> table, std::size_t at) {
  return static_cast<std::int8_t>(std::to_integer<std::uint8_t>(table[at]));
}

std::uint32_t line_in_lnotab(std::span<const std::byte> table,
                             std::int64_t line,
                             std::int64_t offset) {
  std::int64_t start = 0;
  for (std::size_t at = 0; at + 1 < table.size(); at += 2) {
    start += unsigned_at(table, at);
    if (start > offset) {
      break;
    }
    line += signed_at(table, at + 1);
  }
  return as_line(line);
}

std::uint32_t line_in_ranges(std::span<const std::byte> table,
                             std::int64_t line,
                             std::int64_t offset) {
  constexpr std::int64_t no_line = -128;
  std::int64_t end = 0;
  for (std::size_t at = 0; at + 1 < table.size(); at += 2) {
    const auto delta = signed_at(table, at + 1);
    line += delta == no_line ? 0 : delta;
    end += unsigned_at(table, at);
    if (offset < end) {
      return delta == no_line ? 0 : as_line(line);
    }
  }
  return 0;
}

// A number in groups of six bits, the lowest first; bit 6 says that another follows, the lowest bit
// of the number that it is negative.
std::int64_t signed_varint(std::span<const std::byte> table, std::size_t at) {
  constexpr unsigned group_bits = 6, longest = 30;
  std::uint64_t number = 0;
  for (unsigned shift = 0; at < table.size() && shift <= longest; shift += group_bits, ++at) {
    const auto group = std::to_integer<std::uint64_t>(table[at]);
    number |= (group & 0x3fU) << shift;
    if ((group & 0x40U) == 0) {
      break;
    }
  }
  const auto size = static_cast<std::int64_t>(number >> 1U);
  return number % 2 == 1 ? -size : size;
}

std::uint32_t line_in_locations(std::span<const std::byte> table,
                                std::int64_t line,
                                std::int64_t offset) {
  constexpr unsigned one_line = 10, no_columns = 13, long_form = 14, no_location = 15;
  std::int64_t end = 0;
  for (std::size_t at = 0; at < table.size();) {
    const auto head = std::to_integer<unsigned>(table[at]);
    const unsigned kind = head >> 3U & 0xfU;
    if (kind >= one_line && kind < no_columns) {
      line += kind - one_line;
    } else if (kind == no_columns || kind == long_form) {
      line += signed_varint(table, at + 1);
    }
    end += ((head & 7U) + 1) * instruction_bytes;
    if (offset < end) {
      return kind == no_location ? 0 : as_line(line);
    }
    do {
      ++at;  // no other byte of an entry has the highest bit
    } while (at < table.size() && std::to_integer<unsigned>(table[at]) < 0x80U);
  }
  return 0;
}

}  // namespace

std::uint32_t line_of_instruction(std::uint32_t minor,
                                  std::span<const std::byte> table,
                                  std::uint32_t first_line,
                                  std::int64_t offset) {
  if (offset < 0) {
    return as_line(first_line);
  }
  return minor < 10    ? line_in_lnotab(table, first_line, offset)
         : minor == 10 ? line_in_ranges(table, first_line, offset)
                       : line_in_locations(table, first_line, offset);
}

}  // namespace tracso::python
