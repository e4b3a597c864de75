// Texts that --who and the findings read: mountinfo, cgroup, the bytes of a library in which its
// version stands.

#include "collect/library_version.hpp"
#include "collect/mount_table.hpp"
#include "proc/container.hpp"
#include "support/fake_target.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tracso;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto mounts = parse_remote_mounts(text);
  static_cast<void>(file_system_of("/usr/lib/x.so", mounts));
  static_cast<void>(proc::container_of(text));
  const auto file = test::memory_file(text);
  for (const auto* path : {"/lib/libcrypto.so.3", "/lib/libz.so.1.2.13", "/lib/x.so"}) {
    const auto version = find_library_version(*file, path, "libx.so.1");
    if (version.text.size() > 64 || version.text.empty() != version.source.empty()) {
      std::abort();
    }
  }
  return 0;
}
