#include "support/build_ld_cache.hpp"

#include <algorithm>

namespace tracso::test {
namespace {

void put(std::string& out, std::uint64_t value, unsigned bytes, bool big_endian) {
  for (unsigned i = 0; i < bytes; ++i) {
    const unsigned shift = 8 * (big_endian ? bytes - 1 - i : i);
    out.push_back(static_cast<char>((value >> shift) & 0xffU));
  }
}

std::uint32_t add_text(std::string& strings, const std::string& text) {
  const auto at = static_cast<std::uint32_t>(strings.size());
  strings.append(text).push_back('\0');
  return at;
}

}  // namespace

std::string build_current_cache(const std::vector<CacheRow>& rows,
                                const std::vector<std::string>& hwcap_names,
                                bool big_endian) {
  const std::size_t strings_at = 48 + 24 * rows.size();
  const auto base = static_cast<std::uint32_t>(strings_at);
  std::string strings;
  std::string table;
  for (const auto& row : rows) {
    put(table, row.flags, 4, big_endian);
    put(table, base + add_text(strings, row.name), 4, big_endian);
    put(table, base + add_text(strings, row.path), 4, big_endian);
    put(table, 0, 4, big_endian);
    put(table, row.hwcap, 8, big_endian);
  }
  std::vector<std::uint32_t> names;
  for (const auto& name : hwcap_names) {
    names.push_back(base + add_text(strings, name));
  }
  strings.resize((strings.size() + 3) & ~std::size_t{3});
  const auto extension = static_cast<std::uint32_t>(strings_at + strings.size());
  std::string out = "glibc-ld.so.cache1.1";
  put(out, rows.size(), 4, big_endian);
  put(out, strings.size(), 4, big_endian);
  put(out, big_endian ? 3 : 2, 1, big_endian);
  out.append(3, '\0');
  put(out, extension, 4, big_endian);
  out.append(12, '\0');
  out += table + strings;
  put(out, 0xeaa42174U, 4, big_endian);
  put(out, 1, 4, big_endian);
  put(out, 1, 4, big_endian);  // tag: glibc-hwcaps
  put(out, 0, 4, big_endian);
  put(out, extension + 24, 4, big_endian);
  put(out, 4 * names.size(), 4, big_endian);
  for (const auto name : names) {
    put(out, name, 4, big_endian);
  }
  return out;
}

std::string build_old_cache(const std::vector<CacheRow>& rows) {
  std::string out = "ld.so-1.7.0";
  out.push_back('\0');
  put(out, rows.size(), 4, false);
  std::string strings;
  for (const auto& row : rows) {
    put(out, row.flags, 4, false);
    put(out, add_text(strings, row.name), 4, false);
    put(out, add_text(strings, row.path), 4, false);
  }
  return out + strings;
}

std::string build_compat_cache(const std::vector<CacheRow>& rows) {
  // The old entries are there for old loaders, which this code is not: empty ones do.
  std::string out = "ld.so-1.7.0";
  out.push_back('\0');
  put(out, rows.size(), 4, false);
  out.append(12 * rows.size(), '\0');
  out.resize((out.size() + 7) & ~std::size_t{7});
  return out + build_current_cache(rows);
}

}  // namespace tracso::test
