#pragma once
// Under which names a recording keeps what was asked of a door: the one that writes and the one
// that answers must agree.

#include "tracso/target.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tracso::os {

std::string range_key(const MappedRange& range);
std::string piece_key(std::string_view name, std::uint64_t offset, std::size_t count);
std::string command_key(const Command& command);

}  // namespace tracso::os
