#pragma once
// What the kernel tells of a process before anything is interpreted.

#include "tracso/mapping.hpp"
#include "tracso/target.hpp"
#include "tracso/trace.hpp"

#include "proc/auxv.hpp"
#include "proc/smaps.hpp"
#include "proc/status.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tracso {

/// Paths are those of the process, also where it has a root directory of its own.
struct ProcessFacts {
  std::string exe;  ///< as /proc/PID/exe says, without " (deleted)"; empty: not readable
  std::string working_directory = "/";
  std::vector<std::string> command;
  proc::ProcessStat stat;
  std::vector<Mapping> mappings;
  std::optional<proc::Auxv> auxv;
  std::optional<std::vector<std::pair<std::string, std::string>>>
      environment;  ///< nullopt: not readable, or overwritten
};

/// Errors: not_found (ended, zombie), denied (not ours, or a kernel thread), malformed. What else
/// is missing is a notice. `costs` holds the mappings where they have been read already: the kernel
/// is not asked for them again.
Result<ProcessFacts> read_process_facts(const Target& target,
                                        const std::vector<proc::MappingCost>& costs,
                                        std::vector<Notice>& notices);

/// ProcessFacts::mappings as they are by now; empty: not to be had.
std::vector<Mapping> read_mappings_again(const ProcessSource& process);

}  // namespace tracso
