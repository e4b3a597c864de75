#include "python/interpreter.hpp"
#include "python/runtime_cookie.hpp"
#include "python/runtime_sections.hpp"
#include "support/catch.hpp"
#include "support/fake_target.hpp"

#include <elf.h>

#include <cstring>

using namespace tracso;
using namespace tracso::python;

namespace {

Mapping mapped(std::uint64_t start, std::string name) {
  Mapping mapping;
  mapping.start = start;
  mapping.end = start + 0x1000;
  mapping.inode = start >> 12U;
  mapping.device = 1;
  mapping.readable = true;
  mapping.name = std::move(name);
  return mapping;
}

ProbeInput input_of(const test::FakeTarget& fake, std::vector<Mapping> mappings) {
  ProbeInput input;
  input.target = fake.target();
  input.mappings = std::move(mappings);
  input.executable = input.mappings.empty() ? "" : input.mappings.front().name;
  return input;
}

template <class T>
void append(std::string& text, const T& value) {
  text.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// An ELF file of headers only: section names, .PyRuntime or a symbol table with that symbol.
std::string elf_file(const std::string& section, const std::string& symbol) {
  const std::string names = std::string("\0.shstrtab\0", 11) + section + '\0';
  const std::string strings = std::string("\0other", 6) + symbol + '\0';
  Elf64_Sym entry{};
  entry.st_name = 6;
  entry.st_shndx = 1;
  entry.st_value = 0x5678;
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 4;
  header.e_shstrndx = 0;
  const std::uint64_t after = sizeof header;
  Elf64_Shdr rows[4]{};
  rows[0].sh_offset = after;
  rows[0].sh_size = names.size();
  rows[1].sh_name = 11;
  rows[1].sh_addr = 0x1234;
  rows[2].sh_type = SHT_STRTAB;
  rows[2].sh_offset = after + names.size();
  rows[2].sh_size = strings.size();
  rows[3].sh_type = SHT_SYMTAB;
  rows[3].sh_link = 2;
  rows[3].sh_offset = after + names.size() + strings.size();
  rows[3].sh_size = sizeof entry;
  header.e_shoff = rows[3].sh_offset + sizeof entry;
  std::string file;
  append(file, header);
  file += names + strings;
  append(file, entry);
  append(file, rows);
  return file;
}

}  // namespace

TEST_CASE("interpreter: version numbers become the text people know", "[python]") {
  CHECK(version_text(0x030b02f0) == "3.11.2");
  CHECK(version_text(0x030f00a1) == "3.15.0a1");
  CHECK(version_text(0x030e00b3) == "3.14.0b3");
  CHECK(version_text(0x030d00c2) == "3.13.0rc2");
  CHECK(version_text(0).empty());
}

TEST_CASE("interpreter: a process without Python is no error", "[python]") {
  test::FakeTarget fake;
  const auto found = find_interpreter(input_of(fake, {mapped(0x400000, "/usr/bin/cat")}));
  REQUIRE(found);
  CHECK(found->implementation == Implementation::none);
  CHECK(found->runtimes.empty());
}

TEST_CASE("interpreter: PyPy is known by its library", "[python]") {
  test::FakeTarget fake;
  const auto found = find_interpreter(input_of(
      fake, {mapped(0x400000, "/opt/pypy/bin/pypy3"), mapped(0x500000, "/opt/libpypy3.9-c.so")}));
  REQUIRE(found);
  CHECK(found->implementation == Implementation::pypy);
  CHECK(found->version == "3.9");
  CHECK(found->object == "/opt/libpypy3.9-c.so");
}

TEST_CASE("interpreter: memory that may not be read is said", "[python]") {
  test::FakeTarget fake;
  fake.process.denied.insert("memory");
  const auto found = find_interpreter(input_of(fake, {mapped(0x400000, "/usr/bin/python3.11")}));
  REQUIRE_FALSE(found);
  CHECK(found.error().kind == ErrorKind::denied);
}

TEST_CASE("interpreter: a section names the runtime of a stripped program", "[python]") {
  const auto file = test::memory_file(elf_file(".PyRuntime", "nothing"));
  const auto found = runtime_in_file(*file, SymbolTables::leave);
  REQUIRE(found);
  CHECK(found->address == 0x1234);
  CHECK(found->how == "section");
}

TEST_CASE("interpreter: a section is found by its whole name", "[python]") {
  const auto file = test::memory_file(elf_file(".AsyncioDebug", "nothing"));
  const auto found = section_in_file(*file, ".AsyncioDebug");
  REQUIRE(found);
  CHECK(found->address == 0x1234);
  CHECK_FALSE(section_in_file(*file, ".Asyncio"));
  CHECK_FALSE(section_in_file(*file, "Debug"));
  CHECK_FALSE(section_in_file(*file, ""));
}

TEST_CASE("interpreter: the symbol table is read where it is asked for", "[python]") {
  const auto file = test::memory_file(elf_file(".data", "_PyRuntime"));
  CHECK_FALSE(runtime_in_file(*file, SymbolTables::leave));
  const auto found = runtime_in_file(*file, SymbolTables::read);
  REQUIRE(found);
  CHECK(found->address == 0x5678);
  CHECK(found->how == "symbol table");
}

TEST_CASE("interpreter: a cut file holds no runtime and does no harm", "[python]") {
  const std::string whole = elf_file(".PyRuntime", "_PyRuntime");
  for (std::size_t bytes = 0; bytes < whole.size(); bytes += 3) {
    const auto file = test::memory_file(whole.substr(0, bytes));
    CHECK_FALSE(runtime_in_file(*file, SymbolTables::read));
  }
}

TEST_CASE("interpreter: the cookie of 3.13 is found across the border of two reads", "[python]") {
  test::FakeTarget fake;
  std::string data(0x20000, '\0');
  const auto put = [&data](std::size_t at, std::uint64_t free_threaded) {
    std::string head = "xdebugpy";
    append(head, std::uint64_t{0x030d00f0});
    append(head, free_threaded);
    data.replace(at, head.size(), head);
  };
  put(0x10000 - 8, 0);
  put(0x18000, 7);  // no such flag: only the letters
  fake.process.memory[0x600000] = data;
  auto mapping = mapped(0x600000, "/opt/app");
  mapping.end = 0x600000 + data.size();
  mapping.writable = true;
  const auto found = find_runtime_cookies(fake.process, {mapping});
  REQUIRE(found.size() == 1);
  CHECK(found[0].address == 0x60fff8);
  CHECK(found[0].version == 0x030d00f0);
}
