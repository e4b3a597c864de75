#pragma once
// Running processes that no agent can get into, told before anything is done to them.

#include "tracso/result.hpp"
#include "tracso/target.hpp"

#include <cstdint>
#include <optional>

namespace tracso::calls {

/// Why nobody can attach: a kernel thread, a zombie, stopped, traced by another, statically linked,
/// of another processor, a sanitizer, musl. nullopt: nothing speaks against it.
std::optional<Error> attach_refusal(const Target& target);

/// Whether the mapping at that address is locked (mlock(2)), or that cannot be known.
bool has_locked(const ProcessSource& process, std::uint64_t address);
/// That it locks what it maps (MCL_FUTURE): the agent reserves more than machines have.
Error refusal_of_locked(const ProcessSource& process);

}  // namespace tracso::calls
