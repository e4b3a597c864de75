// The two ways to know the cache, its file and `ldconfig -p`, must say the same: on this machine
// and for caches of every form that ldconfig can write.

#include "base/text.hpp"
#include "loader/environment.hpp"
#include "loader/ld_cache.hpp"
#include "os/live_commands.hpp"
#include "os/live_files.hpp"
#include "support/catch.hpp"
#include "support/loader_cases.hpp"

#include <set>

namespace tracso::loader {
namespace {

constexpr std::size_t limit = std::size_t{64} << 20;

LdCache from_file(const std::string& path) {
  auto bytes = read_whole_file(os::LiveFiles(), TargetPath{path}, limit);
  REQUIRE(bytes);
  auto cache = parse_ld_cache(std::move(*bytes));
  REQUIRE(cache);
  return std::move(*cache);
}

LdCache from_ldconfig(const std::string& path) {
  const auto output = os::LiveCommands().run({{"ldconfig", "-p", "-C", path}, ""});
  REQUIRE(output);
  auto cache = parse_ldconfig_text(output->out);
  REQUIRE(cache);
  return std::move(*cache);
}

void check_agreement(const std::string& path) {
  INFO(path);
  const LdCache file = from_file(path);
  const LdCache text = from_ldconfig(path);
  CHECK(file.entries().size() == text.entries().size());
  for (const auto& difference : compare_caches(file, text)) {
    FAIL_CHECK(difference.name << " (" << difference.abi << " " << difference.hwcap << ") is "
                               << join(difference.first, " ") << " in the file and "
                               << join(difference.second, " ") << " in the text");
  }
  const std::vector<std::string> hwcaps{"x86-64-v4", "x86-64-v3", "x86-64-v2"};
  for (const auto& [elf_class, machine] :
       {std::pair{ElfClass::elf64, 62}, {ElfClass::elf32, 3}, {ElfClass::elf32, 62}}) {
    const auto abi = cache_abi(elf_class, static_cast<std::uint16_t>(machine));
    for (const auto& entry : file.entries()) {
      const CacheRequest request{entry.name, *abi, hwcaps, 3, 0};
      INFO(entry.name << " for " << abi->text);
      CHECK(file.find(request) == text.find(request));
    }
  }
}

}  // namespace

TEST_CASE("ldconfig: its text and the file agree on this machine", "[loader][cache]") {
  check_agreement("/etc/ld.so.cache");
}

TEST_CASE("ldconfig: its text and the file agree in every form", "[loader][cache]") {
  std::set<std::string> roots;
  for (const auto& row : test::loader_cases()) {
    if (row.kind == "chroot") {
      roots.insert(std::string(split_words(row.launch, " ").at(1)));
    }
  }
  REQUIRE(roots.size() >= 3);
  std::set<CacheForm> forms;
  for (const auto& root : roots) {
    const std::string path = root + "/etc/ld.so.cache";
    if (os::LiveFiles().status({path})) {
      check_agreement(path);
      forms.insert(from_file(path).form());
    }
  }
  CHECK(forms == std::set<CacheForm>{CacheForm::current, CacheForm::compat, CacheForm::old});
}

}  // namespace tracso::loader
