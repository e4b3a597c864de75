// Any bytes as the path of a mapped file, with any PYTHONPATH before it.

#include "python/path_probe_rules.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto line = bytes.find('\n');
  const std::vector<std::string> search_path{std::string(bytes.substr(0, line))};
  const auto path = line == std::string_view::npos ? bytes : bytes.substr(line + 1);
  const auto name = tracso::python::module_of_path(
      path, search_path, [](const std::string& directory) { return directory.size() % 2 == 0; });
  // No piece of a module's name is empty, and none holds a slash.
  if (name && (name->empty() || name->front() == '.' || name->back() == '.' ||
               name->find("..") != std::string::npos || name->find('/') != std::string::npos)) {
    std::abort();
  }
  return 0;
}
