// An address back to a name, judged by readelf.

#include "elf/function_table.hpp"

#include "base/text.hpp"
#include "os/live_files.hpp"
#include "support/catch.hpp"
#include "support/run_program.hpp"

#include <map>
#include <set>
#include <string>

using namespace tracso;

namespace {

Result<elf::FunctionTable> table_of(const std::string& path) {
  const auto files = os::open_root("/");
  REQUIRE(files);
  auto file = (*files)->open({path});
  REQUIRE(file);
  return elf::FunctionTable::read(std::move(*file), path);
}

// "  12: 0000000000001139  22 FUNC LOCAL DEFAULT 14 name"; address -> its names.
std::map<std::uint64_t, std::set<std::string>> functions_by_readelf(const std::string& path) {
  std::map<std::uint64_t, std::set<std::string>> functions;
  const auto shown = test::run_program({"readelf", "-sW", path});
  for (const auto line : split(shown.out, '\n')) {
    const auto words = split_words(line, " ");
    if (words.size() >= 8 && (words[3] == "FUNC" || words[3] == "IFUNC") && words[6] != "UND" &&
        words[2] != "0") {
      functions[*parse_unsigned(words[1], 16)].insert(
          std::string(words[7].substr(0, words[7].find('@'))));
    }
  }
  return functions;
}

}  // namespace

TEST_CASE("functions: every address has one of the names that readelf shows", "[live][elf]") {
  test::TemporaryFolder folder;
  const auto program = folder / "program";
  test::write_file(folder / "program.c",
                   "__attribute__((noinline)) static int hidden(int n) { return n + 1; }\n"
                   "__attribute__((noinline)) int shown(int n) { return hidden(n) * 2; }\n"
                   "int main(int argc, char **argv) { return shown(argc); }\n");
  REQUIRE(test::run_program({"cc", "-O1", "-o", program, folder / "program.c"}).status == 0);
  std::string libc;
  const std::string maps = test::read_file("/proc/self/maps");
  for (const auto line : split(maps, '\n')) {
    const auto words = split_words(line, " ");
    if (words.size() == 6 && base_name(words[5]).starts_with("libc.so")) {
      libc = words[5];
    }
  }
  REQUIRE_FALSE(libc.empty());
  for (const auto& path : {program, libc}) {
    INFO(path);
    const auto table = table_of(path);
    REQUIRE(table);
    const auto expected = functions_by_readelf(path);
    REQUIRE(expected.size() >= 3);
    for (const auto& [address, names] : expected) {
      const auto found = table->at(address);
      REQUIRE(found);
      INFO(found->name);
      CHECK(found->address == address);
      CHECK(names.contains(found->name));
    }
    CHECK_FALSE(table->at(0));
    CHECK_FALSE(table->at(UINT64_MAX));
  }
  const auto table = table_of(program);
  const auto named = functions_by_readelf(program);
  std::size_t hidden = 0;
  for (const auto& [address, names] : named) {
    if (names.contains("hidden")) {
      ++hidden;
      CHECK(table->at(address + 1)->name == "hidden");
      CHECK(table->at(address + 1)->address == address);
    }
  }
  CHECK(hidden == 1);
}

TEST_CASE("functions: public names before inner ones", "[live][elf]") {
  test::TemporaryFolder folder;
  const auto path = folder / "two";
  test::write_file(folder / "two.c",
                   "int __twin(void) { return 1; }\n"
                   "int twin(void) __attribute__((weak, alias(\"__twin\")));\n"
                   "int main(void) { return __twin(); }\n");
  REQUIRE(test::run_program({"cc", "-o", path, folder / "two.c"}).status == 0);
  const auto table = table_of(path);
  REQUIRE(table);
  for (const auto& [address, names] : functions_by_readelf(path)) {
    if (names.contains("twin")) {
      CHECK(table->at(address)->name == "twin");
    }
  }
}

TEST_CASE("functions: a file that is cut off or no ELF is refused or empty", "[live][elf]") {
  test::TemporaryFolder folder;
  const auto whole = test::read_file("/proc/self/exe");
  test::write_file(folder / "none", "not an ELF file at all, but long enough for a header........");
  CHECK_FALSE(table_of(folder / "none"));
  for (const std::size_t bytes : {64U, 1000U, 100000U}) {
    test::write_file(folder / "cut", whole.substr(0, bytes));
    const auto table = table_of(folder / "cut");
    CHECK((!table || table->size() == 0));
  }
}
