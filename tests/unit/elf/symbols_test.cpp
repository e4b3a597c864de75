#include "elf/symbols.hpp"

#include "support/build_elf.hpp"
#include "support/catch.hpp"
#include "support/fake_target.hpp"

#include <elf.h>

using namespace tracso;
using namespace tracso::test;

namespace {

/// A symbol table with the file behind it.
struct Opened {
  explicit Opened(const ElfSpec& spec) : Opened(build_elf(spec)) {}

  explicit Opened(const std::string& bytes)
      : file(memory_file(bytes)), table(elf::SymbolTable::open(*file, "/lib/x.so")) {}

  bool defines(std::string_view name, std::string_view version) {
    REQUIRE(table);
    const auto found = table->defines(name, version);
    REQUIRE(found);
    return *found;
  }

  std::unique_ptr<File> file;
  Result<elf::SymbolTable> table;
};

ElfSpec versioned() {
  ElfSpec spec;
  spec.symbols = {{.name = "f", .version = "V1"},
                  {.name = "g", .version = "V2"},
                  {.name = "h", .version = "V1", .hidden = true},
                  {.name = "h", .version = "V2"},
                  {.name = "plain"},
                  {.name = "puts", .defined = false, .version = "GLIBC_2.2.5", .file = "libc.so.6"},
                  {.name = "maybe", .defined = false, .weak = true},
                  {.name = "z", .defined = false}};
  spec.defined_versions = {"libver.so.1", "V1", "V2"};
  return spec;
}

}  // namespace

TEST_CASE("symbols: lookups honour versions, whatever the hash, class and byte order", "[elf]") {
  for (const ElfClass elf_class : {ElfClass::elf32, ElfClass::elf64}) {
    for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
      for (const HashStyle hash : {HashStyle::gnu, HashStyle::sysv}) {
        ElfSpec spec = versioned();
        spec.elf_class = elf_class;
        spec.byte_order = order;
        spec.hash = hash;
        Opened opened(spec);
        CHECK(opened.defines("f", ""));
        CHECK(opened.defines("f", "V1"));
        CHECK_FALSE(opened.defines("f", "V2"));
        CHECK(opened.defines("g", "V2"));
        CHECK(opened.defines("h", "V1"));
        CHECK(opened.defines("h", "V2"));
        CHECK_FALSE(opened.defines("h", "V3"));
        CHECK(opened.defines("plain", "V7"));
        CHECK_FALSE(opened.defines("puts", "GLIBC_2.2.5"));
        CHECK_FALSE(opened.defines("z", ""));
        CHECK_FALSE(opened.defines("nothing", ""));
        CHECK_FALSE(opened.defines("pla", ""));
        CHECK_FALSE(opened.defines("plainer", ""));
        CHECK_FALSE(opened.defines("", ""));
      }
    }
  }
}

TEST_CASE("symbols: a file without versions serves every reference", "[elf]") {
  Opened opened(ElfSpec{.symbols = {{.name = "g"}}});
  CHECK(opened.defines("g", "V2"));
}

TEST_CASE("symbols: undefined ones come with the version they ask for", "[elf]") {
  for (const HashStyle hash : {HashStyle::gnu, HashStyle::sysv, HashStyle::none}) {
    ElfSpec spec = versioned();
    spec.hash = hash;
    Opened opened(spec);
    REQUIRE(opened.table);
    const auto undefined = opened.table->undefined();
    REQUIRE(undefined);
    const std::vector<elf::UndefinedSymbol> expected{
        {"puts", "GLIBC_2.2.5", "libc.so.6", false}, {"maybe", "", "", true}, {"z", "", "", false}};
    CHECK(*undefined == expected);
  }
}

TEST_CASE("symbols: a file that exports nothing still tells what it wants", "[elf]") {
  // GNU ld's hash table then begins at symbol 1 and says nothing of the length.
  std::string bytes = build_elf({.symbols = {{.name = "puts", .defined = false}}});
  const std::size_t hash = bytes.find(std::string("\1\0\0\0\2\0\0\0\1\0\0\0", 12));
  REQUIRE(hash != std::string::npos);
  bytes[hash + 4] = 1;
  Opened opened(bytes);
  REQUIRE(opened.table);
  const auto undefined = opened.table->undefined();
  REQUIRE(undefined);
  REQUIRE(undefined->size() >= 1);
  CHECK(undefined->front().name == "puts");
}

TEST_CASE("symbols: the answer to a missing version", "[elf]") {
  // A library wants g@V2 of libver.so.1; the old one has only V1, the new one both.
  Opened user(ElfSpec{
      .symbols = {{.name = "f", .defined = false, .version = "V1", .file = "libver.so.1"},
                  {.name = "g", .defined = false, .version = "V2", .file = "libver.so.1"}}});
  Opened old(ElfSpec{.symbols = {{.name = "f", .version = "V1"}},
                     .defined_versions = {"libver.so.1", "V1"}});
  Opened next(versioned());
  REQUIRE(user.table);
  REQUIRE(old.table);
  REQUIRE(next.table);
  const auto& need = user.table->versions().needed.front();
  CHECK(elf::missing_versions(need, old.table->versions()) == std::vector<std::string>{"V2"});
  CHECK(elf::missing_versions(need, next.table->versions()).empty());
  const auto undefined = user.table->undefined();
  REQUIRE(undefined);
  std::vector<std::string> unmet;
  for (const auto& symbol : *undefined) {
    if (!old.defines(symbol.name, symbol.version) && next.defines(symbol.name, symbol.version)) {
      unmet.push_back(symbol.name);
    }
  }
  CHECK(unmet == std::vector<std::string>{"g"});
}

TEST_CASE("symbols: long names are compared to their end", "[elf]") {
  const std::string name(3000, 'n');
  Opened opened(ElfSpec{.symbols = {{.name = name}}});
  CHECK(opened.defines(name, ""));
  CHECK_FALSE(opened.defines(std::string_view(name).substr(1), ""));
}

TEST_CASE("symbols: damaged tables give an answer or an error, in bounded time", "[elf]") {
  for (const HashStyle hash : {HashStyle::gnu, HashStyle::sysv}) {
    ElfSpec spec = versioned();
    spec.hash = hash;
    const std::string good = build_elf(spec);
    for (std::size_t at = 64; at < good.size(); ++at) {
      for (const char value : {'\x00', '\x01', '\xff'}) {
        std::string bytes = good;
        bytes[at] = value;
        Opened opened(bytes);
        if (opened.table) {
          const auto found = opened.table->defines("h", "V2");
          CHECK((found || !found.error().reason.empty()));
          const auto undefined = opened.table->undefined();
          CHECK((undefined || !undefined.error().reason.empty()));
        }
      }
    }
  }
}
