#include "launch/musl_dlopen.hpp"

#include "support/catch.hpp"

using namespace tracso;

TEST_CASE("musl: words are taken apart at the name they are about", "[launch]") {
  const auto missing = launch::musl_refusal(
      "Error loading shared library libz.so.1: No such file or directory (needed by /opt/p.so)");
  CHECK(missing.name == "libz.so.1");
  CHECK(missing.reason == "No such file or directory (needed by /opt/p.so)");
  const auto symbol = launch::musl_refusal("Error relocating /opt/p.so: leaf: symbol not found");
  CHECK(symbol.name == "/opt/p.so");
  CHECK(symbol.reason == "leaf: symbol not found");
  const auto whole = launch::musl_refusal("Error loading dependencies for /opt/p.so");
  CHECK(whole.name == "/opt/p.so");
  CHECK(whole.reason == "Error loading dependencies for /opt/p.so");
  CHECK(launch::musl_refusal("(unreadable)").reason == "(unreadable)");
}

TEST_CASE("musl: only what ends a dlopen is a refusal", "[launch]") {
  CHECK(launch::refuses_dlopen("Error loading shared library %s: %m"));
  CHECK(launch::refuses_dlopen("Error relocating %s: RELRO protection failed: %m"));
  CHECK_FALSE(launch::refuses_dlopen("Symbol not found: %s"));
  CHECK_FALSE(launch::refuses_dlopen("Library %s is not already loaded"));
  CHECK_FALSE(launch::refuses_dlopen("Invalid library handle %p"));
  CHECK_FALSE(launch::refuses_dlopen(""));
}
