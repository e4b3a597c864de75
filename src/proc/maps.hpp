#pragma once
// /proc/PID/maps as text -> mappings (proc_pid_maps(5)).

#include "tracso/mapping.hpp"
#include "tracso/result.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace tracso::proc {

/// One Mapping per line, in the order of the text (ascending addresses). A last line without a
/// newline is taken. malformed: a line that is not one; the Error names its number.
Result<std::vector<Mapping>> parse_maps(std::string_view text);

/// One line without its newline; nullopt where it is not a line of maps. smaps has the same lines
/// as headers.
std::optional<Mapping> parse_maps_line(std::string_view line);

}  // namespace tracso::proc
