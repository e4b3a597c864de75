#include "os/recording_keys.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

namespace tracso::os {

std::string range_key(const MappedRange& range) {
  return fmt::format("map:{:x}-{:x}", range.start, range.end);
}

std::string piece_key(std::string_view name, std::uint64_t offset, std::size_t count) {
  return fmt::format("{}@{}+{}", name, offset, count);
}

std::string command_key(const Command& command) {
  return join(command.argv, " ");
}

}  // namespace tracso::os
