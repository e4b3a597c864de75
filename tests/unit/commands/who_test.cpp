#include "commands/who_command.hpp"
#include "support/catch.hpp"

using tracso::is_named;

TEST_CASE("who: a library is named by path, file, soname, stem or family", "[commands]") {
  const char* path = "/site/pq.libs/libssl-0331cfe8.so.1.1";
  const char* soname = "libssl-0331cfe8.so.1.1";
  CHECK(is_named("libssl", path, soname));
  CHECK(is_named("openssl", path, soname));
  CHECK(is_named("OpenSSL", path, soname));
  CHECK(is_named(path, path, soname));
  CHECK(is_named(soname, path, soname));
  CHECK(is_named("libssl.so.3", "/lib/libssl.so.3.0.1", "libssl.so.3"));
  CHECK(is_named("libpython3.11", "/lib/libpython3.11.so.1.0", "libpython3.11.so.1.0"));
  CHECK(is_named("libz", "/lib/libz.so.1.2.13", "libz.so.1"));
}

TEST_CASE("who: what only begins alike is another library", "[commands]") {
  CHECK_FALSE(is_named("libc", "/lib/libcrypto.so.3", "libcrypto.so.3"));
  CHECK_FALSE(is_named("libssl.so.3", "/lib/libssl.so.1.1", "libssl.so.1.1"));
  CHECK_FALSE(is_named("libpython3.1", "/lib/libpython3.11.so.1.0", "libpython3.11.so.1.0"));
  CHECK_FALSE(is_named("openssl", "/lib/libz.so.1", "libz.so.1"));
  CHECK_FALSE(is_named("", "/lib/libz.so.1", "libz.so.1"));
}
