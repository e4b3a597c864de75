#include "elf/readelf_text.hpp"

#include "support/catch.hpp"

#include <elf.h>

using namespace tracso;
using elf::parse_readelf;

namespace {

const std::string columns = "  Tag        Type                         Name/Value\n";
const std::string null_row = " 0x0000000000000000 (NULL)               0x0\n";
const std::string libc_row =
    " 0x0000000000000001 (NEEDED)             Shared library: [libc.so.6]\n";

std::string section(std::size_t entries, const std::string& rows) {
  return "\nDynamic section at offset 0x2df8 contains " + std::to_string(entries) +
         (entries == 1 ? " entry:\n" : " entries:\n") + columns + rows;
}

std::string soname_row(const std::string& name) {
  return " 0x000000000000000e (SONAME)             Library soname: [" + name + "]\n";
}

Result<elf::ReadelfFacts> parse_one(const std::string& text) {
  const std::vector<std::string> paths{"/a.so"};
  auto files = parse_readelf(text, paths);
  REQUIRE(files.size() == 1);
  return files.front();
}

}  // namespace

TEST_CASE("readelf text: every string and flag finds its place", "[elf][readelf]") {
  const std::string rows =
      libc_row +
      " 0x0000000000000001 (NEEDED)             Shared library: [ld-linux-x86-64.so.2] program "
      "interpreter\n"
      " 0x0000000000000001 (NEEDED)             Shared library: []\n" +
      soname_row("libx [1].so.2") +
      " 0x000000000000000f (RPATH)              Library rpath: [/old]\n"
      " 0x000000000000001d (RUNPATH)            Library runpath: [$ORIGIN/../lib:/opt]\n"
      " 0x000000007ffffffd (AUXILIARY)          Auxiliary library: [libfast.so]\n"
      " 0x000000007fffffff (FILTER)             Filter library: [libreal.so]\n"
      " 0x000000006ffffefc (AUDIT)              Audit library: [a.so:b.so]\n"
      " 0x000000006ffffefb (DEPAUDIT)           Dependency audit library: [c.so]\n"
      " 0x000000000000001e (FLAGS)              SYMBOLIC BIND_NOW STATIC_TLS \n"
      " 0x000000006ffffffb (FLAGS_1)            Flags: NOW NODEFLIB PIE 80000000\n"
      " 0x000000000000000c (INIT)               0x3000\n"
      " 0x000000006ffffef0 (<unknown>: 6ffffef0) 0x1\n" +
      null_row;
  const auto facts = parse_one(section(15, rows));
  REQUIRE(facts);
  CHECK(facts->offset == 0x2df8);
  using Kind = NeededEntry::Kind;
  DynamicSection expected;
  expected.present = true;
  expected.needed = {{Kind::needed, "libc.so.6"},
                     {Kind::needed, "ld-linux-x86-64.so.2"},
                     {Kind::needed, ""},
                     {Kind::auxiliary, "libfast.so"},
                     {Kind::filter, "libreal.so"}};
  expected.soname = "libx [1].so.2";
  expected.rpath = "/old";
  expected.runpath = "$ORIGIN/../lib:/opt";
  expected.audit = {"a.so:b.so"};
  expected.depaudit = {"c.so"};
  expected.flags = DF_SYMBOLIC | DF_BIND_NOW | DF_STATIC_TLS;
  expected.flags_1 = 0x80000000U | DF_1_NOW | DF_1_NODEFLIB | DF_1_PIE;
  CHECK(facts->dynamic == expected);
}

TEST_CASE("readelf text: each name of a DF_1 flag is its bit of elf.h", "[elf][readelf]") {
  const std::vector<std::pair<std::string, std::uint64_t>> known{{"NOW", DF_1_NOW},
                                                                 {"NODELETE", DF_1_NODELETE},
                                                                 {"INITFIRST", DF_1_INITFIRST},
                                                                 {"NOOPEN", DF_1_NOOPEN},
                                                                 {"INTERPOSE", DF_1_INTERPOSE},
                                                                 {"NODEFLIB", DF_1_NODEFLIB},
                                                                 {"NODIRECT", DF_1_NODIRECT},
                                                                 {"EDITED", DF_1_EDITED},
                                                                 {"GLOBAUDIT", DF_1_GLOBAUDIT},
                                                                 {"SINGLETON", DF_1_SINGLETON},
                                                                 {"WEAKFILTER", DF_1_WEAKFILTER},
                                                                 {"NOCOMMON", DF_1_NOCOMMON},
                                                                 {"None", 0}};
  for (const auto& [name, bit] : known) {
    const auto facts =
        parse_one(section(1, " 0x000000006ffffffb (FLAGS_1)            Flags: " + name + "\n"));
    REQUIRE(facts);
    CHECK(facts->dynamic.flags_1 == bit);
  }
}

TEST_CASE("readelf text: rows of 32-bit files are shorter", "[elf][readelf]") {
  const auto facts =
      parse_one("\nDynamic section at offset 0x248 contains 2 entries:\n" + columns +
                " 0x0000000e (SONAME)                     Library soname: [libt.so.1]\n"
                " 0x00000000 (NULL)                       0x0\n\n");
  REQUIRE(facts);
  CHECK(facts->dynamic.soname == "libt.so.1");
}

TEST_CASE("readelf text: a static program has no section", "[elf][readelf]") {
  const auto facts = parse_one("\nThere is no dynamic section in this file.\n");
  REQUIRE(facts);
  CHECK(*facts == elf::ReadelfFacts{});
}

TEST_CASE("readelf text: several files are told apart by their headers", "[elf][readelf]") {
  const std::vector<std::string> paths{"/a.so", "/static", "/b.so"};
  const auto files =
      parse_readelf("\nFile: /a.so\n" + section(2, soname_row("a") + null_row) +
                        "\nFile: /static\n\nThere is no dynamic section in this file.\n" +
                        "\nFile: /b.so\n" + section(2, soname_row("b") + null_row),
                    paths);
  REQUIRE(files.size() == 3);
  REQUIRE(files[0]);
  CHECK(files[0]->dynamic.soname == "a");
  REQUIRE(files[1]);
  CHECK_FALSE(files[1]->dynamic.present);
  REQUIRE(files[2]);
  CHECK(files[2]->dynamic.soname == "b");
}

TEST_CASE("readelf text: a damaged file among others spoils only itself", "[elf][readelf]") {
  const std::vector<std::string> paths{"/a.so", "/bad.so", "/b.so"};
  const auto files = parse_readelf("\nFile: /a.so\n" + section(1, null_row) + "\nFile: /bad.so\n" +
                                       "\nFile: /b.so\n" + section(1, null_row),
                                   paths);
  CHECK(files[0]);
  REQUIRE_FALSE(files[1]);
  CHECK(files[1].error().kind == ErrorKind::malformed);
  CHECK(files[2]);
}

TEST_CASE("readelf text: a row forged by a newline in a soname is one too many", "[elf][readelf]") {
  const std::string forged =
      "x]\n 0x0000000000000001 (NEEDED)             Shared library: [evil.so";
  CHECK_FALSE(parse_one(section(3, soname_row(forged) + libc_row + null_row)));
  CHECK_FALSE(parse_one(section(2, soname_row(forged) + null_row)));
  CHECK_FALSE(parse_one(section(2, soname_row("a\nb") + null_row)));
  CHECK_FALSE(parse_one(section(2, soname_row("a]\n\n") + null_row)));
}

TEST_CASE("readelf text: a forged section or count is not believed", "[elf][readelf]") {
  const std::string inner =
      "x]" + section(2, libc_row + " 0x0000000000000001 (NEEDED)  Shared library: [evil.so");
  CHECK_FALSE(parse_one(section(3, soname_row(inner) + libc_row + null_row)));
  CHECK_FALSE(parse_one(section(99, libc_row + null_row)));
  CHECK_FALSE(parse_one(section(0, libc_row + null_row)));
  CHECK_FALSE(parse_one(section(18446744073709551615U, libc_row)));
}

TEST_CASE("readelf text: where a header is forged, no file is believed", "[elf][readelf]") {
  const std::vector<std::string> paths{"/a.so", "/b.so", "/c.so"};
  const std::string fake =
      "\nFile: /b.so\n" +
      section(2, libc_row + " 0x0000000000000001 (NEEDED)  Shared library: [evil");
  const auto files = parse_readelf(
      "\nFile: /a.so\n" + section(3, soname_row("x]\n" + fake) + libc_row + null_row) +
          "\nFile: /b.so\n" + section(1, null_row) + "\nFile: /c.so\n" + section(1, null_row),
      paths);
  for (const auto& file : files) {
    CHECK_FALSE(file);
  }
}

TEST_CASE("readelf text: headers missing, repeated or out of order spoil everything",
          "[elf][readelf]") {
  const std::vector<std::string> paths{"/a.so", "/b.so"};
  const std::string a = "\nFile: /a.so\n" + section(1, null_row);
  const std::string b = "\nFile: /b.so\n" + section(1, null_row);
  CHECK(parse_readelf(a + b, paths)[0]);
  for (const auto& text : {std::string(), a, b, b + a, a + a + b, a + b + b, "junk\n" + a + b}) {
    const auto files = parse_readelf(text, paths);
    REQUIRE(files.size() == 2);
    CHECK_FALSE(files[0]);
    CHECK_FALSE(files[1]);
  }
}

TEST_CASE("readelf text: values without brackets, odd letters and unknown flags are refused",
          "[elf][readelf]") {
  CHECK_FALSE(
      parse_one(section(1, " 0x0000000000000001 (NEEDED)             Shared library: 0x1234\n")));
  CHECK_FALSE(parse_one(
      section(1, " 0x0000000000000001 (NEEDED)             Shared library: [a] and more\n")));
  CHECK_FALSE(parse_one(section(1, soname_row("na\x01me"))));
  CHECK_FALSE(parse_one(section(1, soname_row("na^Ame"))));
  CHECK_FALSE(parse_one(section(1, soname_row("n\xc3\xa4me"))));
  CHECK_FALSE(parse_one(section(1, " 0x000000000000001e (FLAGS)              unknown\n")));
  CHECK_FALSE(parse_one(section(1, " 0x000000006ffffffb (FLAGS_1)            Flags: NEWFLAG\n")));
  CHECK_FALSE(parse_one(section(1, " 0x000000006ffffffb (FLAGS_1)            NOW\n")));
  CHECK_FALSE(parse_one("readelf: Error: Not an ELF file\n"));
  CHECK_FALSE(parse_one(""));
}

TEST_CASE("readelf text: cut anywhere, it gives the facts or nothing", "[elf][readelf]") {
  const std::string text = section(3, soname_row("libx.so.1") + libc_row + null_row);
  const auto whole = parse_one(text);
  for (std::size_t length = 0; length < text.size(); ++length) {
    const auto facts = parse_one(text.substr(0, length));
    CHECK((!facts || *facts == *whole));
  }
}
