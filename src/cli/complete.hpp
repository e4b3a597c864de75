#pragma once
// tracso __complete WORDS: what a shell may put in the place of the last word.

#include "cli/cli11_names.hpp"
#include "commands/candidates.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tracso {

/// Where words that depend on the machine come from.
struct CandidateSources {
  std::function<std::vector<Candidate>()> processes;
  std::function<std::vector<Candidate>(std::optional<std::int32_t>)> sonames;
};

/// One candidate a line, "word<TAB>what it is"; ":file" and ":command" stand for what the shell
/// itself knows. `words` are those behind the program's name, the last one is being typed.
std::string complete(const CLI::App& app,
                     const std::vector<std::string>& words,
                     const CandidateSources& sources);

}  // namespace tracso
