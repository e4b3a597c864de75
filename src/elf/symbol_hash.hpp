#pragma once
// The two hash functions of ELF symbol tables.

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tracso::elf {

/// Chains of real tables have a handful of entries; this only stops a hostile table.
constexpr std::size_t longest_chain = 4096;

/// DT_GNU_HASH (glibc sysdeps/generic/dl-hash.h).
constexpr std::uint32_t gnu_hash(std::string_view name) {
  std::uint32_t hash = 5381;
  for (const char letter : name) {
    hash = hash * 33 + static_cast<unsigned char>(letter);
  }
  return hash;
}

/// DT_HASH (gABI chapter 5, "Hash Table").
constexpr std::uint32_t sysv_hash(std::string_view name) {
  std::uint32_t hash = 0;
  for (const char letter : name) {
    hash = (hash << 4U) + static_cast<unsigned char>(letter);
    hash ^= (hash >> 24U) & 0xF0U;
  }
  return hash & 0x0FFFFFFFU;
}

}  // namespace tracso::elf
