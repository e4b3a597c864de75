#include "elf/linkage.hpp"

#include "support/build_elf.hpp"
#include "support/catch.hpp"
#include "support/fake_target.hpp"

#include <elf.h>

using namespace tracso;
using namespace tracso::test;

namespace {

Result<elf::Linkage> read(const std::string& bytes) {
  return elf::Linkage::read(*memory_file(bytes), "/lib/x.so");
}

ElfSpec spec_of(HashStyle hash, ElfClass elf_class, ByteOrder order) {
  ElfSpec spec;
  spec.hash = hash;
  spec.elf_class = elf_class;
  spec.byte_order = order;
  spec.defined_versions = {"libx.so.1", "V1", "V2"};
  spec.symbols = {{.name = "f", .version = "V1", .hidden = true},
                  {.name = "f", .version = "V2"},
                  {.name = "plain"},
                  {.name = "soft", .weak = true},
                  {.name = "wanted", .defined = false, .version = "W1", .file = "libw.so.1"}};
  return spec;
}

bool has(const elf::Linkage& table, std::string_view name, std::string_view version) {
  return table.find({name, version}).has_value();
}

}  // namespace

TEST_CASE("linkage: lookups honour versions, whatever the hash, class and byte order", "[elf]") {
  const auto hash = GENERATE(HashStyle::gnu, HashStyle::sysv);
  const auto elf_class = GENERATE(ElfClass::elf64, ElfClass::elf32);
  const auto order = GENERATE(ByteOrder::little, ByteOrder::big);
  CAPTURE(static_cast<int>(hash), static_cast<int>(elf_class), static_cast<int>(order));
  const auto table = read(build_elf(spec_of(hash, elf_class, order)));
  REQUIRE(table);
  CHECK(has(*table, "f", "V1"));
  CHECK(has(*table, "f", "V2"));
  CHECK_FALSE(has(*table, "f", "V3"));
  CHECK(has(*table, "f", ""));
  CHECK(has(*table, "plain", "V9"));  // a symbol of no version serves every reference
  CHECK(has(*table, "soft", ""));
  CHECK_FALSE(has(*table, "wanted", "W1"));
  CHECK_FALSE(has(*table, "", ""));
  CHECK_FALSE(has(*table, "ff", ""));
  const auto soft = table->find({"soft", ""});
  CHECK(table->symbol(*soft).binding == STB_WEAK);
  CHECK(table->name(*soft) == "soft");
  // Without a version the one that is not hidden is taken.
  CHECK(table->find({"f", ""}) == table->find({"f", "V2"}));
  CHECK(table->find({"f", ""}) != table->find({"f", "V1"}));
}

TEST_CASE("linkage: a file that exports nothing, and one without symbols", "[elf]") {
  ElfSpec spec;
  SECTION("imports only") {
    spec.symbols = {{.name = "wanted", .defined = false}};
  }
  SECTION("no symbols") {}
  SECTION("no hash table") {
    spec.hash = HashStyle::none;
    spec.symbols = {{.name = "f"}};
  }
  const auto table = read(build_elf(spec));
  REQUIRE(table);
  CHECK_FALSE(has(*table, "wanted", ""));
  CHECK_FALSE(has(*table, "f", ""));
  CHECK(table->slots().empty());
  CHECK(table->symbol(0).name == 0);
  CHECK(table->symbol(1'000'000).value == 0);
  CHECK(table->name(1'000'000).empty());
  CHECK(table->needed_version(1'000'000).empty());
}

TEST_CASE("linkage: a file that binds at once says so", "[elf]") {
  ElfSpec spec;
  CHECK_FALSE(read(build_elf(spec))->binds_now());
  spec.dynamic = {value_entry(DT_FLAGS_1, DF_1_NOW)};
  CHECK(read(build_elf(spec))->binds_now());
  spec.dynamic = {value_entry(DT_FLAGS, DF_BIND_NOW)};
  CHECK(read(build_elf(spec))->binds_now());
}

TEST_CASE("linkage: no bit of a file leads out of it", "[elf]") {
  const auto hash = GENERATE(HashStyle::gnu, HashStyle::sysv);
  const std::string good = build_elf(spec_of(hash, ElfClass::elf64, ByteOrder::little));
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string bytes = good;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
    const auto table = read(bytes);
    if (!table) {
      CHECK_FALSE(table.error().reason.empty());
      continue;
    }
    for (const char* name : {"f", "plain", "wanted"}) {
      if (const auto found = table->find({name, "V1"})) {
        CHECK(table->name(*found) == name);
      }
    }
  }
}

TEST_CASE("linkage: a file that is cut short is refused, not guessed", "[elf]") {
  const std::string good = build_elf(spec_of(HashStyle::gnu, ElfClass::elf64, ByteOrder::little));
  for (std::size_t bytes = 0; bytes < good.size(); bytes += 7) {
    const auto table = read(good.substr(0, bytes));
    CHECK((table || !table.error().reason.empty()));
  }
}
