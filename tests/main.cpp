// Catch2 2 wants its main built once; Catch2 3 brings its own.
#if TRACSO_CATCH_MAJOR < 3
#define CATCH_CONFIG_MAIN
#endif
#include "support/catch.hpp"
#if TRACSO_CATCH_MAJOR >= 3
#include <catch2/catch_session.hpp>

int main(int argc, char** argv) {
  return Catch::Session().run(argc, argv);
}
#endif
