#pragma once
// Which files are parts of a C library. Asked by who reads errno after a call, by who borrows a
// thread that must be in none of its code, and by who looks for the owner of a thread.

#include <string_view>

namespace tracso {

/// glibc's libc, libpthread, librt, libdl and libutil ("libc.so.6", "libc-2.31.so"), or musl's,
/// which is its loader too ("ld-musl-x86_64.so.1", "libc.musl-x86_64.so.1"). The path or the name
/// alone. glibc's loader is none: proc::is_loader_name.
bool is_c_library_name(std::string_view path);

}  // namespace tracso
