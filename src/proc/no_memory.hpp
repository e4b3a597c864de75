#pragma once
#include "tracso/result.hpp"

#include "proc/status.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tracso::proc {

/// "4242 (python3)"
std::string process_subject(std::int32_t pid, const ProcessStat& stat);

/// Why there is nothing to look at: kernel threads (denied) and zombies (not_found) have a /proc
/// folder but no memory. nullopt: it has some. `action`: what was tried, for the message.
std::optional<Error> no_memory(std::string_view action, std::int32_t pid, const ProcessStat& stat);
/// The same of a process whose stat is read for it; nullopt also where that cannot be.
std::optional<Error> no_memory(std::string_view action, const ProcessSource& process);

}  // namespace tracso::proc
