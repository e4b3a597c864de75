#pragma once
// The two ways to read ELF files: our own reader, and readelf.

#include "tracso/dynamic_section.hpp"
#include "tracso/target.hpp"

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tracso {

/// A file to read: `open` gives it (by path or by mapping), `name` is for messages, `host_path` for
/// helper programs.
struct ElfInput {
  std::string name;
  std::string host_path;
  std::function<Result<std::unique_ptr<File>>()> open;
};

class ElfReader {
 public:
  virtual ~ElfReader() = default;
  virtual std::string_view name() const = 0;
  /// One Result per input, in order. malformed: not ELF or cut short, with the loader's own words
  /// as reason
  /// ("invalid ELF header", "file too short") where the loader has words for it.
  virtual std::vector<Result<ElfFile>> read(std::span<const ElfInput> inputs) const = 0;
};

}  // namespace tracso
