#pragma once
// Tables of a file that its dynamic section names by address, read whole and never more than any
// linker writes.

#include "tracso/result.hpp"

#include "elf/file_image.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace tracso::elf {

/// More than any program has: a large browser has half a million.
constexpr std::uint64_t most_symbols = 4'000'000;
constexpr std::uint64_t most_table_bytes = std::uint64_t{64} << 20U;
constexpr std::string_view too_many = "more entries in a table than any linker writes";

/// `image` must outlive it.
class FileTables {
 public:
  explicit FileTables(FileImage& image) : image_(image) {}

  /// `bytes` of the table at that address. malformed: it leads out of the file.
  Result<std::vector<std::byte>> table(std::uint64_t address, std::uint64_t bytes) const;
  /// `count` numbers of 32 bits.
  Result<std::vector<std::uint32_t>> numbers(std::uint64_t address, std::uint64_t count) const;

 private:
  FileImage& image_;
};

}  // namespace tracso::elf
