// What the code that gdb ran in a process wrote: the process may be anybody's.

#include "python/gdb_probe_result.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto answer = tracso::python::parse_gdb_result(bytes);
  if (!answer) {
    return 0;
  }
  std::size_t kept = 0;
  for (const auto& module : answer->modules) {
    kept += module.name.size() + module.file.value_or("").size() + module.origin.size();
    if (module.file && module.file->find('\0') != std::string::npos) {
      std::abort();  // a path that no system call could be given
    }
  }
  if (kept > size) {
    std::abort();  // text out of nothing
  }
  return 0;
}
