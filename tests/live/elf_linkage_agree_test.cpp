// Import slots and exported symbols of real libraries: what we say must be what readelf says.

#include "base/text.hpp"
#include "elf/linkage.hpp"
#include "os/live_commands.hpp"
#include "os/live_files.hpp"
#include "support/c_programs.hpp"
#include "support/catch.hpp"
#include "support/fake_target.hpp"
#include "support/run_program.hpp"

#include <algorithm>
#include <filesystem>
#include <map>

using namespace tracso;

namespace {

std::vector<std::string> sample_libraries() {
  std::vector<std::string> paths;
  std::error_code ignored;
  for (const auto* folder : {"/usr/lib/x86_64-linux-gnu",
                             "/usr/lib/aarch64-linux-gnu",
                             "/usr/lib64",
                             "/usr/lib/i386-linux-gnu",
                             "/usr/lib32",
                             "/lib32"}) {
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
      const std::string path = entry.path().string();
      if (entry.is_regular_file(ignored) && path.find(".so.") != std::string::npos) {
        paths.push_back(path);
      }
    }
  }
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> sample;
  for (std::size_t i = 0; i < paths.size(); i += 25) {
    sample.push_back(paths[i]);
  }
  return sample;
}

std::string run_readelf(const std::string& option, const std::string& path) {
  const os::LiveCommands commands;
  Command command;
  command.argv = {"readelf", "-W", option, "--", path};
  const auto output = commands.run(command);
  REQUIRE(output);
  return output->out;
}

// "00000000000e3fe0  0000000700000006 R_X86_64_GLOB_DAT  0000000000000000 free@GLIBC_2.2.5 + 0"
std::map<std::uint64_t, std::string> listed_slots(const std::string& path) {
  std::map<std::uint64_t, std::string> slots;
  const std::string output = run_readelf("-r", path);
  for (const auto line : split(output, '\n')) {
    const auto words = split_words(line, " ");
    if (words.size() < 5 || (!words[2].ends_with("_GLOB_DAT") && words[2] != "R_X86_64_JUMP_SLO" &&
                             words[2].find("_JUMP_SLOT") == std::string_view::npos &&
                             words[2].find("_JMP_SLOT") == std::string_view::npos)) {
      continue;
    }
    slots[parse_unsigned(words[0], 16).value_or(0)] = words[4].substr(0, words[4].find('@'));
  }
  return slots;
}

void compare_slots(const elf::Linkage& table, const std::string& path) {
  std::map<std::uint64_t, std::string> found;
  for (const elf::ImportSlot& slot : table.slots()) {
    found[slot.address] = table.name(slot.symbol);
  }
  CHECK(found == listed_slots(path));
}

// "   12: 000000000000a0b0     0 FUNC    GLOBAL DEFAULT   12 crc32@@ZLIB_1.2.0"
std::size_t compare_exports(const elf::Linkage& table, const std::string& path) {
  std::size_t compared = 0;
  const std::string output = run_readelf("--dyn-syms", path);
  for (const auto line : split(output, '\n')) {
    const auto words = split_words(line, " ");
    if (words.size() < 8 || !words[0].ends_with(':') || words[4] == "LOCAL" ||
        words[5] != "DEFAULT" || words[6] == "UND" || words[6] == "ABS" || words[3] == "TLS") {
      continue;
    }
    const std::string_view whole = words[7];
    const auto at = whole.find('@');
    const std::string name(whole.substr(0, at));
    const std::string version(
        at == std::string_view::npos ? "" : whole.substr(whole.find_first_not_of('@', at)));
    if (++compared > 300) {
      break;
    }
    INFO(whole);
    const auto found = table.find({name, version});
    REQUIRE(found);
    CHECK(table.symbol(*found).value == parse_unsigned(words[1], 16));
  }
  return compared;
}

}  // namespace

TEST_CASE("elf linkage: slots and exports are those that readelf lists", "[elf][live]") {
  const os::LiveFiles files;
  std::size_t compared = 0, exports = 0;
  for (const auto& path : sample_libraries()) {
    const auto file = files.open({path});
    REQUIRE(file);
    const auto table = elf::Linkage::read(**file, path);
    INFO(path);
    if (!table) {
      WARN(path << ": " << table.error().reason);
      continue;
    }
    compare_slots(*table, path);
    exports += compare_exports(*table, path);
    ++compared;
  }
  CHECK(compared > 5);
  CHECK(exports > 500);
}

TEST_CASE("elf linkage: a lazy library has jump slots with a way back into its PLT",
          "[elf][live]") {
  const std::string flags = GENERATE(std::string(""), std::string("-m32"));
  test::Workshop shop;
  shop.write("l.c", "int puts(const char*);int caller(void){return puts(\"x\");}\n");
  if (!shop.run("gcc -shared -fPIC " + flags +
                " -nostdlib -fcf-protection=none -Wl,-z,lazy l.c -o l.so 2>/dev/null")) {
    WARN("NOT TRIED: the compiler cannot build " << flags);
    return;
  }
  const auto file = os::LiveFiles().open({shop.path("l.so")});
  REQUIRE(file);
  const auto table = elf::Linkage::read(**file, "l.so");
  REQUIRE(table);
  REQUIRE(table->slots().size() == 1);
  CHECK(table->slots()[0].jump);
  CHECK(table->slots()[0].initial != 0);
  CHECK(table->name(table->slots()[0].symbol) == "puts");
  CHECK_FALSE(table->binds_now());
  CHECK(table->find({"caller", ""}));
}

TEST_CASE("elf linkage: bits flipped in a real library do no harm", "[elf][live]") {
  test::Workshop shop;
  shop.write("l.c",
             "#include <stdio.h>\n#include <stdlib.h>\nint a(void){return puts(getenv(\"A\"));}\n"
             "int b(void){return a()+rand();}\n");
  REQUIRE(shop.run("gcc -shared -fPIC -s -Wl,-z,lazy l.c -o l.so"));
  const std::string good = test::read_file(shop.path("l.so"));
  REQUIRE(good.size() > 4096);
  std::uint64_t random = 88172645463325252U;
  std::size_t read = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes = good;
    for (int flip = 0; flip < 3; ++flip) {
      random ^= random << 13U;
      random ^= random >> 7U;
      random ^= random << 17U;
      // Tables lie in the first pages.
      bytes[(random >> 8U) % 4096] ^= static_cast<char>(1U << (random & 7U));
    }
    const auto table = elf::Linkage::read(*test::memory_file(bytes), "l.so");
    if (table) {
      ++read;
      for (const elf::ImportSlot& slot : table->slots()) {
        static_cast<void>(
            table->find({table->name(slot.symbol), table->needed_version(slot.symbol)}));
      }
    }
  }
  CHECK(read > 100);
}
