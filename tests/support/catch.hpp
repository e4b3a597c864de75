#pragma once
// Catch2, whichever major version the machine has (Debian 12: 2, Debian 13: 3).
#if TRACSO_CATCH_MAJOR >= 3
#include <catch2/catch_all.hpp>
using Catch::Approx;  // version 2 has it in the global namespace
#else
#include <catch2/catch.hpp>
#endif
