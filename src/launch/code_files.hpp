#pragma once
// Which files a process has mapped as code, and whose they are beside its own program.

#include "tracso/target.hpp"

#include "launch/run.hpp"

#include <optional>
#include <vector>

namespace tracso::launch {

struct CodeFiles {
  std::vector<MappedFile> libraries;  ///< sorted, each once, without its program
  std::optional<MappedFile> program;
  auto operator<=>(const CodeFiles&) const = default;
};

/// From maps and exe. nullopt: not readable.
std::optional<CodeFiles> read_code_files(const ProcessSource& process);

}  // namespace tracso::launch
