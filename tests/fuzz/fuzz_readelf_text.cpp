// Any text as the output of readelf, for one file or for two.

#include "elf/readelf_text.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::vector<std::string> paths{"/a.so", "/b.so"};
  for (const std::size_t count : {1U, 2U}) {
    const auto files = tracso::elf::parse_readelf(text, std::span(paths).first(count));
    if (files.size() != count) {
      std::abort();
    }
    for (const auto& file : files) {
      if (file && file->dynamic.soname && !tracso::elf::is_plain(*file->dynamic.soname)) {
        std::abort();
      }
    }
  }
  return 0;
}
