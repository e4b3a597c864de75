#pragma once
// `tracso diff` of two saved lists of descriptors, or of one and a process.

#include "commands/stat_request.hpp"

#include <optional>

namespace tracso {

/// The exit status; nullopt: neither side is a document of `tracso fds`.
std::optional<int> diff_descriptors(const DiffRequest& request);

}  // namespace tracso
