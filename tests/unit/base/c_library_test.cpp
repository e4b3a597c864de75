#include "base/c_library.hpp"

#include "support/catch.hpp"

namespace tracso {
namespace {

TEST_CASE("C library: its parts are known by their names, of every version", "[base]") {
  for (const auto* name : {"/usr/lib/libc.so.6",
                           "libc-2.31.so",
                           "libc.so",
                           "/lib/libpthread-2.31.so",
                           "libpthread.so.0",
                           "librt.so.1",
                           "libdl.so.2",
                           "libutil-2.31.so",
                           "ld-musl-x86_64.so.1",
                           "libc.musl-x86_64.so.1"}) {
    CAPTURE(name);
    CHECK(is_c_library_name(name));
  }
}

TEST_CASE("C library: what only begins like one of its parts is none", "[base]") {
  for (const auto* name : {"/usr/lib/librtmp.so.1",
                           "libc-client.so.2007e",
                           "libc-",
                           "libcurl.so.4",
                           "libdleyna-core-1.0.so.5",
                           "libpthread_workqueue.so.0",
                           "/usr/lib/libc.so.6/plugin.so",
                           "ld-linux-x86-64.so.2",
                           "[vdso]",
                           ""}) {
    CAPTURE(name);
    CHECK_FALSE(is_c_library_name(name));
  }
}

}  // namespace
}  // namespace tracso
