#pragma once
// The flags of cache entries and the words that ldconfig has for them (glibc
// sysdeps/generic/ldconfig.h).

#include <cstdint>
#include <string_view>

namespace tracso::loader {

constexpr std::uint32_t elf_abi = 1;  ///< any C library
constexpr std::uint32_t generic_abi =
    3;  ///< the GNU C library on a machine without own flags: i386

/// "libc6,x86-64"; empty: flags that this code does not know.
std::string_view cache_abi_text(std::uint32_t flags);

}  // namespace tracso::loader
