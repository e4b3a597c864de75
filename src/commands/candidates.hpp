#pragma once
// What a shell could complete from this machine: processes, libraries.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tracso {

/// A word and what it is.
using Candidate = std::pair<std::string, std::string>;

/// Every process: its number, and its command line.
std::vector<Candidate> process_candidates();

/// Libraries of the process; without one, of the last trace. Empty: cannot be read.
std::vector<Candidate> soname_candidates(std::optional<std::int32_t> pid);

}  // namespace tracso
