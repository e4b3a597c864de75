#pragma once
// DT_GNU_HASH or DT_HASH of a file, whole: by which its exported symbols are found, and the only
// place that says how many symbols there are.

#include "tracso/result.hpp"

#include "elf/file_tables.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tracso::elf {

struct HashTables {
  bool gnu = false;  ///< DT_GNU_HASH
  std::uint32_t bloom_shift = 0, first_hashed = 0;
  std::vector<std::uint64_t> bloom;
  std::vector<std::uint32_t> buckets, chains;  ///< no buckets: nothing is exported
  std::uint64_t symbols = 0;                   ///< one behind the last that is hashed
};

/// Empty where there is neither. malformed: as FileTables, or a chain that does not end.
Result<HashTables> read_hash_tables(FileImage& image, std::span<const DynamicEntry> entries);

}  // namespace tracso::elf
