#pragma once
// The environment variables that decide what a loader does (ld.so(8)).

#include <array>

namespace tracso {

constexpr std::array<const char*, 5> loader_variables{
    "LD_LIBRARY_PATH", "LD_PRELOAD", "LD_AUDIT", "LD_HWCAP_MASK", "GLIBC_TUNABLES"};

}  // namespace tracso
