#pragma once
// Is there a /proc at all? In a fresh chroot there often is none.

#include "tracso/result.hpp"

#include <optional>
#include <string>

namespace tracso::os {

bool is_proc_mounted();

/// What to say where nothing can be known without it; nullopt: it is mounted. `action` and
/// `subject` as of any error.
std::optional<Error> without_proc(std::string action, std::string subject);

}  // namespace tracso::os
