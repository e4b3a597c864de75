#pragma once
// Makes the bytes of /etc/ld.so.cache for tests, in each of its forms.

#include <cstdint>
#include <string>
#include <vector>

namespace tracso::test {

struct CacheRow {
  std::string name, path;
  std::uint32_t flags = 0x303;
  std::uint64_t hwcap = 0;
};

/// A named hwcap: the number of a name of the cache, and the ISA level its files need.
constexpr std::uint64_t named_hwcap(std::uint32_t number, std::uint32_t isa_level = 0) {
  return (((std::uint64_t{1} << 30U) | isa_level) << 32U) | number;
}

/// glibc-ld.so.cache1.1 with an extension section for the hwcap names. The rows have to be sorted
/// from high to low.
std::string build_current_cache(const std::vector<CacheRow>& rows,
                                const std::vector<std::string>& hwcap_names = {},
                                bool big_endian = false);
/// ld.so-1.7.0 alone.
std::string build_old_cache(const std::vector<CacheRow>& rows);
/// The old table with the current one behind it.
std::string build_compat_cache(const std::vector<CacheRow>& rows);

}  // namespace tracso::test
