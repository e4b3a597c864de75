#pragma once
// Running processes that no agent can get into, told before anything is done to them.

#include "tracso/result.hpp"
#include "tracso/target.hpp"

#include <optional>

namespace tracso::calls {

/// Why nobody can attach: a kernel thread, a zombie, stopped, traced by another, statically linked,
/// of another processor, with a sanitizer, musl. nullopt: nothing speaks against it.
std::optional<Error> attach_refusal(const Target& target);

}  // namespace tracso::calls
