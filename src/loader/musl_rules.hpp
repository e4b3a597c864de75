#pragma once
// What musl's loader does otherwise than glibc's (musl ldso/dynlink.c).

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tracso::loader {

/// "libc.so", "libpthread.so.0", "libm.so.6" and the like: names that stand for the loader itself.
bool is_musl_reserved(std::string_view name);

/// The directories of a path as musl reads it: between colons and line ends, empty ones passed
/// over, each with a slash behind it.
std::vector<std::string> split_musl_path(std::string_view text);

/// An RPATH with its $ORIGIN replaced; nullopt: another dollar sign stands in it, and musl ignores
/// the whole of it.
std::optional<std::string> expand_musl_rpath(std::string_view text, std::string_view origin);

}  // namespace tracso::loader
