#pragma once
// The list of libraries that ldconfig makes, read from /etc/ld.so.cache or from the text of
// `ldconfig -p`. Both give the same LdCache, with the loader's own way of looking a name up in it
// (glibc sysdeps/generic/dl-cache.h, elf/dl-cache.c, elf/cache.c).

#include "tracso/dynamic_section.hpp"
#include "tracso/result.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tracso::loader {

/// What kind of library an entry is for: the low byte is the C library, the rest the machine.
struct CacheAbi {
  std::uint32_t flags = 0;
  std::string_view text;  ///< as `ldconfig -p` prints it: "libc6,x86-64"
  bool operator==(const CacheAbi&) const = default;
};

/// The ABI that a loader for this machine looks for; nullopt: not one this code knows, nothing is
/// found. `e_flags` tells the float ABIs of ARM and RISC-V apart.
std::optional<CacheAbi> cache_abi(ElfClass elf_class,
                                  std::uint16_t machine,
                                  std::uint32_t e_flags = 0);

struct CacheEntry {
  std::string_view name, path;
  std::uint32_t flags = 0;       ///< 0 where it came from text
  std::string_view abi;          ///< "libc6,x86-64"; empty: flags that this code cannot name
  std::string_view hwcap;        ///< the glibc-hwcaps directory it is for: "x86-64-v3"
  std::uint64_t hwcap_bits = 0;  ///< of the old kind of hwcap: bits of the CPU
  std::uint32_t isa_level = 0;   ///< 0 baseline, 1 x86-64-v2 ...
  bool named_hwcap = false;      ///< hwcap counts (it may be empty where the file is damaged)
  bool valid = true;             ///< its strings lie inside the file
};

/// What a loader asks of the cache.
struct CacheRequest {
  std::string_view name;
  CacheAbi abi;
  std::span<const std::string> hwcaps;  ///< names this CPU and loader support, best first
  std::uint32_t isa_level = 0;          ///< the highest this CPU supports
  std::uint64_t hwcap_bits = 0;         ///< the old hwcap bits this CPU supports
};

struct CacheHit {
  std::string_view path;
  std::string_view hwcap;  ///< empty: the plain entry
  bool operator==(const CacheHit&) const = default;
};

enum class CacheForm : std::uint8_t {
  current,  ///< glibc-ld.so.cache1.1 alone
  compat,   ///< the old table with the current one behind it
  old,      ///< ld.so-1.7.0 alone
  text      ///< ldconfig -p
};

/// Entries in the order of the file, and the bytes they point into.
class LdCache {
 public:
  LdCache(CacheForm form, std::shared_ptr<const std::string> bytes, std::vector<CacheEntry> entries)
      : form_(form), bytes_(std::move(bytes)), entries_(std::move(entries)) {}

  CacheForm form() const { return form_; }

  std::span<const CacheEntry> entries() const { return entries_; }

  /// The one entry the loader would take: a binary search in the order that ldconfig sorts by, then
  /// the best supported hwcap of the equal names. A stale entry is returned like any other.
  std::optional<CacheHit> find(const CacheRequest& request) const;

 private:
  std::optional<CacheHit> best_of(std::size_t first, const CacheRequest& request) const;

  CacheForm form_;
  std::shared_ptr<const std::string> bytes_;
  std::vector<CacheEntry> entries_;
};

/// The bytes of /etc/ld.so.cache, in any of the three forms and either byte order. malformed: no
/// cache, or a table longer than the file.
Result<LdCache> parse_ld_cache(std::string bytes);

/// The output of `ldconfig -p`, in whatever language its first line is. Lines that are no entry are
/// passed over; malformed: no line is one.
Result<LdCache> parse_ldconfig_text(std::string text);

/// One name for which two caches give different files.
struct CacheDifference {
  std::string name, abi, hwcap;
  std::vector<std::string> first, second;  ///< the paths of each, in its order; empty: none
  bool operator==(const CacheDifference&) const = default;
};

/// Where two caches disagree, by name. Entries of an ABI without a name are not compared.
std::vector<CacheDifference> compare_caches(const LdCache& first, const LdCache& second);

/// The order of the cache: like strcmp, but runs of digits compare as numbers, and digits come
/// after all else. Negative, 0 or positive.
int compare_library_names(std::string_view left, std::string_view right);

}  // namespace tracso::loader
