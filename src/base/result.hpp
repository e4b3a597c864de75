#pragma once
// The one place that turns an Error into words, and errno into a kind.

#include "tracso/result.hpp"

#include <string>
#include <string_view>

namespace tracso {

/// "tracso: cannot read memory map /proc/1/maps: permission denied", and "hint: ..." on a second
/// line; no final newline. Foreign text comes out escaped.
std::string sentence(const Error& error);

/// An Error from errno: ENOENT, ENOTDIR, ESRCH -> not_found; EACCES, EPERM -> denied; EINTR ->
/// interrupted; else failed.
Error errno_error(int number, std::string_view action, std::string_view subject);

/// "permission denied": strerror in lower case, independent of the locale.
std::string errno_text(int number);

}  // namespace tracso
