// Any bytes as /etc/ld.so.cache and as the output of ldconfig -p; looking names up in what comes
// out.

#include "loader/ld_cache.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>

namespace {

using namespace tracso;
using namespace tracso::loader;

void require(bool promise) {
  if (!promise) {
    std::abort();
  }
}

void look_up(const LdCache& cache, std::string_view name) {
  const std::vector<std::string> hwcaps{"x86-64-v3", "x86-64-v2"};
  for (const auto& [elf_class, machine] :
       {std::pair{ElfClass::elf64, 62}, {ElfClass::elf32, 3}, {ElfClass::elf64, 183}}) {
    const auto abi = cache_abi(elf_class, static_cast<std::uint16_t>(machine));
    const auto hit = cache.find({name, *abi, hwcaps, 2, 6});
    if (!hit) {
      continue;
    }
    // What is found stands in the table under that name.
    bool is_there = false;
    for (const auto& entry : cache.entries()) {
      is_there = is_there || (entry.valid && entry.path == hit->path &&
                              compare_library_names(entry.name, name) == 0);
    }
    require(is_there);
  }
}

void check(const Result<LdCache>& cache) {
  if (!cache) {
    require(cache.error().kind == ErrorKind::malformed && !cache.error().reason.empty());
    return;
  }
  std::size_t looked_up = 0;
  for (const auto& entry : cache->entries()) {
    require(entry.name.size() + entry.path.size() >= entry.name.size());
    if (++looked_up < 64) {
      look_up(*cache, entry.name);
    }
  }
  look_up(*cache, "libc.so.6");
  look_up(*cache, "");
  require(compare_caches(*cache, *cache).empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  check(parse_ld_cache(bytes));
  check(parse_ldconfig_text(bytes));
  return 0;
}
