#pragma once
// Where things are in a process that is attached to: functions of its loader, and of the agent.

#include "tracso/mapping.hpp"
#include "tracso/result.hpp"
#include "tracso/target.hpp"

#include "agent/shared_layout.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace tracso::calls {

/// Addresses in the process.
struct LoaderFunctions {
  std::uint64_t dlopen = 0, dlopen_flags = 0, dlerror = 0, errno_location = 0;
};

/// unsupported: its C library has no dlopen that we can find.
Result<LoaderFunctions> find_loader_functions(const Target& target,
                                              const std::vector<Mapping>& mappings);

/// Offsets into the agent of this program.
struct AgentLayout {
  std::uint64_t attach = 0, detach = 0, state = 0;
};

Result<AgentLayout> agent_layout();

/// An agent that is in a process already.
struct ResidentAgent {
  std::uint64_t base = 0;
  bool same = false;  ///< the very one of this program
  tracso_agent_state state{};
  std::int32_t tracer = 0;  ///< the tracso it works for, if that lives; 0: none
};

std::optional<ResidentAgent> find_resident_agent(const ProcessSource& process,
                                                 const std::vector<Mapping>& mappings,
                                                 const AgentLayout& layout);

}  // namespace tracso::calls
