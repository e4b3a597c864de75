#include "loader/ld_cache.hpp"

#include "support/build_ld_cache.hpp"
#include "support/catch.hpp"

namespace tracso::loader {
namespace {

using test::build_compat_cache;
using test::build_current_cache;
using test::build_old_cache;
using test::CacheRow;
using test::named_hwcap;

const CacheAbi x86_64 = *cache_abi(ElfClass::elf64, 62);
const CacheAbi i386 = *cache_abi(ElfClass::elf32, 3);
const std::vector<std::string> hwcaps{"x86-64-v4", "x86-64-v3", "x86-64-v2"};

LdCache parsed(std::string bytes) {
  auto cache = parse_ld_cache(std::move(bytes));
  REQUIRE(cache);
  return std::move(*cache);
}

std::string path_of(const LdCache& cache, std::string_view name, const CacheAbi& abi = x86_64) {
  const auto hit = cache.find({name, abi, hwcaps, 3, 0});
  return hit ? std::string(hit->path) : "";
}

const std::vector<CacheRow> rows = {
    {"libz.so.10", "/l/libz.so.10"},
    {"libz.so.9", "/l/libz.so.9"},
    {"libz.so.1", "/l/libz.so.1"},
    {"libz.so", "/l/libz.so"},
    {"libm.so.6", "/l32/libm.so.6", 3},
    {"libm.so.6", "/l/libm.so.6"},
    {"liba.so", "/l/liba.so"},
};

}  // namespace

TEST_CASE("ld cache: names compare with runs of digits as numbers", "[loader][cache]") {
  CHECK(compare_library_names("libz.so.10", "libz.so.9") > 0);
  CHECK(compare_library_names("libz.so.9", "libz.so.10") < 0);
  CHECK(compare_library_names("libz.so.1", "libz.so.1") == 0);
  CHECK(compare_library_names("libz.so.01", "libz.so.1") == 0);
  CHECK(compare_library_names("lib1", "libz") > 0);
  CHECK(compare_library_names("libz", "lib1") < 0);
  CHECK(compare_library_names("lib", "lib1") < 0);
  CHECK(compare_library_names("liba", "lib") > 0);
  CHECK(compare_library_names("", "") == 0);
  // The text of ldconfig may hold a NUL, which no name in a cache file does.
  CHECK(compare_library_names(std::string_view("\0", 1), "") > 0);
  CHECK(compare_library_names("", std::string_view("\0", 1)) < 0);
}

TEST_CASE("ld cache: every name is found in every form", "[loader][cache]") {
  for (const auto& [form, bytes] : std::vector<std::pair<CacheForm, std::string>>{
           {CacheForm::current, build_current_cache(rows)},
           {CacheForm::old, build_old_cache(rows)},
           {CacheForm::compat, build_compat_cache(rows)}}) {
    const LdCache cache = parsed(bytes);
    CHECK(cache.form() == form);
    CHECK(cache.entries().size() == rows.size());
    for (const auto& row : rows) {
      CHECK(path_of(cache, row.name, row.flags == 3 ? i386 : x86_64) == row.path);
    }
    CHECK(path_of(cache, "libnone.so") == "");
    CHECK(path_of(cache, "libz.so", i386) == "");
  }
}

TEST_CASE("ld cache: the other byte order is read by its mark", "[loader][cache]") {
  const LdCache cache = parsed(build_current_cache(
      {{"libz.so.1", "/v/libz.so.1", 0x303, named_hwcap(0)}, {"libz.so.1", "/l/libz.so.1"}},
      {"x86-64-v3"},
      true));
  CHECK(path_of(cache, "libz.so.1") == "/v/libz.so.1");
}

TEST_CASE("ld cache: the best supported hwcap wins, wherever it stands", "[loader][cache]") {
  const LdCache cache = parsed(build_current_cache({{"liba.so", "/v2", 0x303, named_hwcap(0)},
                                                    {"liba.so", "/v4", 0x303, named_hwcap(2)},
                                                    {"liba.so", "/v3", 0x303, named_hwcap(1)},
                                                    {"liba.so", "/plain"}},
                                                   {"x86-64-v2", "x86-64-v3", "x86-64-v4"}));
  const auto found = [&](const std::vector<std::string>& supported) {
    const auto hit = cache.find({"liba.so", x86_64, supported, 3, 0});
    return hit ? std::string(hit->path) + " " + std::string(hit->hwcap) : "";
  };
  CHECK(found({"x86-64-v4", "x86-64-v3", "x86-64-v2"}) == "/v4 x86-64-v4");
  CHECK(found({"x86-64-v3", "x86-64-v2"}) == "/v3 x86-64-v3");
  CHECK(found({"x86-64-v2"}) == "/v2 x86-64-v2");
  CHECK(found({}) == "/plain ");
}

TEST_CASE("ld cache: a file that needs a higher ISA level is left out", "[loader][cache]") {
  const LdCache cache = parsed(build_current_cache(
      {{"liba.so", "/v3", 0x303, named_hwcap(0, 2)}, {"liba.so", "/plain"}}, {"x86-64-v3"}));
  CHECK(cache.find({"liba.so", x86_64, hwcaps, 1, 0})->path == "/plain");
  CHECK(cache.find({"liba.so", x86_64, hwcaps, 2, 0})->path == "/v3");
}

TEST_CASE("ld cache: old hwcap bits must all be the CPU's", "[loader][cache]") {
  const LdCache cache =
      parsed(build_current_cache({{"liba.so", "/avx512", 0x303, 4}, {"liba.so", "/plain"}}));
  CHECK(cache.find({"liba.so", x86_64, {}, 0, 0})->path == "/plain");
  CHECK(cache.find({"liba.so", x86_64, {}, 0, 6})->path == "/avx512");
}

TEST_CASE("ld cache: i386 also takes entries of no particular C library", "[loader][cache]") {
  const std::vector<CacheRow> both = {
      {"libb.so", "/elf", 1}, {"liba.so", "/elf", 1}, {"liba.so", "/libc6", 3}};
  const LdCache current = parsed(build_current_cache(both));
  CHECK(path_of(current, "libb.so", i386) == "/elf");
  CHECK(path_of(current, "libb.so") == "");
  // The current reader takes the first that fits, the old one goes on to the exact one.
  CHECK(path_of(current, "liba.so", i386) == "/elf");
  CHECK(path_of(parsed(build_old_cache(both)), "liba.so", i386) == "/libc6");
}

TEST_CASE("ld cache: damaged bytes are refused or miss, never read outside", "[loader][cache]") {
  CHECK_FALSE(parse_ld_cache(""));
  CHECK_FALSE(parse_ld_cache("glibc-ld.so.cache1.1"));
  CHECK_FALSE(
      parse_ld_cache("\x7f"
                     "ELF"));
  const std::string good = build_current_cache(rows, {"x86-64-v3"});
  for (std::size_t length = 0; length < good.size(); ++length) {
    const auto cache = parse_ld_cache(good.substr(0, length));
    if (cache) {
      path_of(*cache, "libz.so.1");
    }
  }
  std::string huge = good;
  huge[23] = '\x7f';  // the number of entries
  CHECK_FALSE(parse_ld_cache(huge));
  std::string outside = good;
  outside[48 + 7] = '\x7f';  // the name of the first entry
  CHECK(parsed(outside).entries().front().valid == false);
}

TEST_CASE("ldconfig text: lines become the entries of the cache", "[loader][cache]") {
  auto cache = parse_ldconfig_text(
      "3 libs found in cache `/etc/ld.so.cache'\n"
      "\tlibz.so.1 (libc6,x86-64) => /lib/x86_64-linux-gnu/libz.so.1\n"
      "\tlibhw.so.1 (libc6,x86-64, hwcap: \"x86-64-v2\") => /v2/libhw.so.1\n"
      "\tlibhw.so.1 (libc6,x86-64, hwcap: \"x86-64-v3\") => /v3/libhw.so.1\n"
      "\tlibhw.so.1 (libc6,x86-64, hwcap: 0x0000000000000004, OS ABI: Linux 3.2.0) => /a/b.so\n"
      "\tlibc.so.6 (libc6) => /lib32/libc.so.6\n"
      "\tlib (odd) name.so (libc6,x86-64) => /opt/a (b) => c/lib.so\n"
      "Cache generated by: ldconfig (Debian GLIBC 2.36) stable release version 2.36\n");
  REQUIRE(cache);
  REQUIRE(cache->entries().size() == 6);
  CHECK(cache->form() == CacheForm::text);
  CHECK(cache->entries()[3].hwcap_bits == 4);
  CHECK(cache->entries()[5].name == "lib (odd) name.so");
  CHECK(cache->entries()[5].path == "/opt/a (b) => c/lib.so");
  CHECK(path_of(*cache, "libhw.so.1") == "/v3/libhw.so.1");
  CHECK(path_of(*cache, "libc.so.6") == "");
  CHECK(path_of(*cache, "libc.so.6", i386) == "/lib32/libc.so.6");
}

TEST_CASE("ldconfig text: the title may be in any language, and only entries count",
          "[loader][cache]") {
  CHECK(parse_ldconfig_text("1 Bibliotheken im Cache gefunden\n\tliba.so (libc6) => /a\n"));
  CHECK_FALSE(parse_ldconfig_text("0 libs found in cache `/etc/ld.so.cache'\n"));
  CHECK_FALSE(parse_ldconfig_text(""));
  CHECK_FALSE(parse_ldconfig_text("\tno brackets => /a\n\t) => \n(x) => y\n"));
}

TEST_CASE("ld cache: two caches are compared by name, ABI and hwcap", "[loader][cache]") {
  const LdCache file = parsed(build_current_cache(rows));
  auto text = parse_ldconfig_text(
      "\tlibz.so.9 (libc6,x86-64) => /elsewhere\n\tlibnew.so (libc6,x86-64) => /new\n");
  REQUIRE(text);
  CHECK(compare_caches(file, file).empty());
  const auto differences = compare_caches(file, *text);
  REQUIRE(differences.size() == 8);
  CHECK(differences.front().name == "liba.so");
  const auto changed = std::find_if(
      differences.begin(), differences.end(), [](const auto& d) { return d.name == "libz.so.9"; });
  REQUIRE(changed != differences.end());
  CHECK(changed->first == std::vector<std::string>{"/l/libz.so.9"});
  CHECK(changed->second == std::vector<std::string>{"/elsewhere"});
}

TEST_CASE("ld cache: each machine has its ABI", "[loader][cache]") {
  CHECK(cache_abi(ElfClass::elf64, 62)->text == "libc6,x86-64");
  CHECK(cache_abi(ElfClass::elf32, 62)->text == "libc6,x32");
  CHECK(cache_abi(ElfClass::elf64, 183)->text == "libc6,AArch64");
  CHECK(cache_abi(ElfClass::elf32, 40, 0x05000400)->text == "libc6,hard-float");
  CHECK(cache_abi(ElfClass::elf32, 40, 0x05000200)->text == "libc6,soft-float");
  CHECK(cache_abi(ElfClass::elf64, 243, 5)->text == "libc6,double-float");
  CHECK(cache_abi(ElfClass::elf32, 3)->text == "libc6");
  CHECK_FALSE(cache_abi(ElfClass::elf64, 9999));
}

}  // namespace tracso::loader
