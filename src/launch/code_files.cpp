#include "launch/code_files.hpp"

#include "proc/maps.hpp"

#include <algorithm>

namespace tracso::launch {

std::optional<CodeFiles> read_code_files(const ProcessSource& process) {
  const auto text = process.read("maps");
  const auto mappings = text ? proc::parse_maps(*text) : Result<std::vector<Mapping>>(text.error());
  if (!mappings) {
    return std::nullopt;
  }
  const auto exe = process.read_link("exe");
  CodeFiles files;
  for (const Mapping& mapping : *mappings) {
    if (!mapping.executable || !mapping.has_file()) {
      continue;
    }
    MappedFile file{mapping.device, mapping.inode, mapping.name};
    if (exe && mapping.name == *exe) {
      files.program = std::move(file);
    } else {
      files.libraries.push_back(std::move(file));
    }
  }
  auto& all = files.libraries;
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return files;
}

}  // namespace tracso::launch
