#include "collect/readers.hpp"

#include "base/text.hpp"
#include "elf/native_reader.hpp"
#include "elf/readelf_reader.hpp"

#include <fmt/format.h>

namespace tracso {

std::unique_ptr<ElfReader> make_reader(const SnapshotOptions& options, const Target& target) {
  if (options.elf == "readelf") {
    return elf::make_readelf_reader(*target.commands);
  }
  return elf::make_native_reader();
}

void note_reader_fallbacks(const ElfReader& reader, std::vector<Notice>& notices) {
  const auto* readelf = dynamic_cast<const elf::ReadelfReader*>(&reader);
  if (readelf == nullptr) {
    return;
  }
  const auto fallbacks = readelf->fallbacks();
  if (!fallbacks.empty()) {
    notices.push_back({"readelf-distrusted",
                       fmt::format("readelf's text could not be believed for {}, first {}",
                                   counted(fallbacks.size(), "file"),
                                   fallbacks.front()),
                       "they were read by tracso itself",
                       ""});
  }
}

}  // namespace tracso
