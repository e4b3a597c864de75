// The dynamic symbols and relocations of real libraries: what we say must be what readelf says.

#include "base/text.hpp"
#include "elf/relocations.hpp"
#include "elf/symbols.hpp"
#include "os/live_commands.hpp"
#include "os/live_files.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

using namespace tracso;

namespace {

std::vector<std::string> sample_libraries() {
  std::vector<std::string> paths;
  std::error_code ignored;
  for (const auto* folder :
       {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/bin"}) {
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
      const std::string path = entry.path().string();
      if (entry.is_regular_file(ignored) &&
          (path.find(".so.") != std::string::npos || path.starts_with("/usr/bin/"))) {
        paths.push_back(path);
      }
    }
  }
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> sample;
  for (std::size_t i = 0; i < paths.size(); i += 20) {
    sample.push_back(paths[i]);
  }
  return sample;
}

std::string run_readelf(const os::LiveCommands& commands,
                        const std::string& option,
                        const std::string& path) {
  Command command;
  command.argv = {"readelf", "-W", option, "--", path};
  command.deadline = std::chrono::seconds(120);  // a busy machine, a file of 90 MB
  const auto output = commands.run(command);
  REQUIRE(output);
  return output->out;
}

struct Listed {
  std::string name, version;
  bool defined = false, visible = false;
};

/// "   12: 0000000000000000     0 FUNC    GLOBAL DEFAULT  UND puts@GLIBC_2.2.5 (3)"
std::vector<Listed> list_symbols(const os::LiveCommands& commands, const std::string& path) {
  const std::string output = run_readelf(commands, "--dyn-syms", path);
  std::vector<Listed> symbols;
  for (const auto line : split(output, '\n')) {
    const auto words = split_words(line, " ");
    if (words.size() < 8 || !words[0].ends_with(':') || words[0] == "Num:" || words[4] == "LOCAL") {
      continue;
    }
    // A name with blanks in it would need more care than a test wants.
    const std::string_view whole = words[words[7].starts_with('<') && words.size() > 8 ? 8 : 7];
    const std::size_t at = whole.find('@');
    Listed symbol{std::string(whole.substr(0, at)), "", words[6] != "UND", words[5] == "DEFAULT"};
    if (at != std::string_view::npos) {
      symbol.version = whole.substr(whole.find_first_not_of('@', at));
    }
    symbols.push_back(symbol);
  }
  return symbols;
}

void compare_symbols(elf::SymbolTable& table, const std::vector<Listed>& listed) {
  std::multiset<std::string> expected, found;
  int looked_up = 0;
  for (const auto& symbol : listed) {
    if (!symbol.defined) {
      expected.insert(symbol.name + "@" + symbol.version);
    } else if (symbol.visible && ++looked_up <= 200) {
      // readelf names the base version of a version symbol, which is none.
      const auto defines = table.defines(symbol.name, symbol.version);
      INFO(symbol.name << "@" << symbol.version);
      REQUIRE(defines);
      CHECK(*defines);
    }
  }
  const auto undefined = table.undefined();
  REQUIRE(undefined);
  for (const auto& symbol : *undefined) {
    found.insert(symbol.name + "@" + symbol.version);
  }
  CHECK(found == expected);
}

}  // namespace

TEST_CASE("elf symbols: undefined and defined ones are those that readelf lists", "[elf][live]") {
  const os::LiveFiles files;
  const os::LiveCommands commands;
  std::size_t compared = 0;
  for (const auto& path : sample_libraries()) {
    const auto file = files.open({path});
    REQUIRE(file);
    auto table = elf::SymbolTable::open(**file, path);
    if (!table) {
      continue;  // a script in /usr/bin
    }
    INFO(path);
    compare_symbols(*table, list_symbols(commands, path));
    ++compared;
  }
  CHECK(compared > 10);
}

TEST_CASE("elf relocations: the pages are those of readelf's list", "[elf][live]") {
  const os::LiveFiles files;
  const os::LiveCommands commands;
  std::size_t compared = 0;
  for (const auto& path : sample_libraries()) {
    const auto file = files.open({path});
    REQUIRE(file);
    const auto bytes = elf::relocation_bytes(**file, path);
    const std::string output = run_readelf(commands, "-Dr", path);
    if (!bytes || path.find(".so.") == std::string::npos ||
        output.find("RELR") != std::string::npos) {
      continue;  // readelf counts RELR in another form
    }
    std::set<std::uint64_t> pages;
    for (const auto line : split(output, '\n')) {
      const auto words = split_words(line, " ");
      if (words.size() >= 3 && words[0].size() == 16 && words[2].starts_with("R_") &&
          !words[2].ends_with("_NONE")) {
        pages.insert(parse_unsigned(words[0], 16).value_or(0) / 4096);
      }
    }
    INFO(path);
    CHECK(*bytes == pages.size() * 4096);
    ++compared;
  }
  CHECK(compared > 10);
}
