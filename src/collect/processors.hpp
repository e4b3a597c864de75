#pragma once
// How many processors a process may use: its affinity and the quota of its control groups.

#include "tracso/target.hpp"

#include <cstddef>
#include <optional>
#include <string_view>

namespace tracso {

/// "0-3,8" -> 5, as in Cpus_allowed_list of status; nullopt: no such list.
std::optional<std::size_t> count_of_list(std::string_view list);

/// "200000 100000" of cpu.max -> 2, rounded up; nullopt: "max", or not that form.
std::optional<std::size_t> processors_of_quota(std::string_view quota_and_period);

/// The lesser of both. nullopt: status does not tell. A quota that cannot be read counts as none.
std::optional<std::size_t> usable_processors(const ProcessSource& process, const FileSystem& files);

}  // namespace tracso
