#pragma once
// Running processes that no agent can get into, told before anything is done to them.

#include "tracso/result.hpp"
#include "tracso/target.hpp"

#include <cstdint>
#include <optional>

namespace tracso::calls {

/// Why nobody can attach: a kernel thread, a zombie, stopped, traced by another, statically linked,
/// of another processor, with memory that is locked, a sanitizer, musl. nullopt: nothing speaks
/// against it.
std::optional<Error> attach_refusal(const Target& target);

/// VmLck of its status, in KiB: what it has locked of its memory, and with MCL_FUTURE what it maps.
std::uint64_t locked_kilobytes(const ProcessSource& process);
/// That it locks memory, of which the agent reserves more than machines have.
Error refusal_of_locked(const ProcessSource& process);

}  // namespace tracso::calls
