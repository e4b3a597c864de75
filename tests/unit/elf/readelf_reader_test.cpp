#include "elf/readelf_reader.hpp"

#include "elf/native_reader.hpp"
#include "support/build_elf.hpp"
#include "support/catch.hpp"
#include "support/fake_target.hpp"

using namespace tracso;
using namespace tracso::test;

namespace {

/// A file in memory that readelf is said to see under the same name.
ElfInput input(const std::string& path, const std::string& bytes) {
  return {path, path, [bytes] { return Result<std::unique_ptr<File>>(memory_file(bytes)); }};
}

const std::string library = build_elf({.interp = "/lib64/ld-linux-x86-64.so.2",
                                       .notes = {build_id_note("\x42")},
                                       .dynamic = {soname("libx.so.1"), needed("libc.so.6")}});
const std::string other_library = build_elf({.dynamic = {soname("liby.so.1")}});
const std::string program = build_elf({.type = 2, .has_dynamic = false});

std::string hex_offset(const std::string& bytes) {
  const auto file = memory_file(bytes);
  auto image = elf::FileImage::open(*file, "");
  const auto* dynamic = image->segment(2);
  char text[32];
  std::snprintf(text, sizeof text, "%llx", static_cast<unsigned long long>(dynamic->offset));
  return text;
}

/// What readelf writes about a library of that soname, to be told from what the bytes say.
std::string section_of(const std::string& bytes, const std::string& soname) {
  return "\nDynamic section at offset 0x" + hex_offset(bytes) +
         " contains 2 entries:\n  Tag        Type                         Name/Value\n"
         " 0x000000000000000e (SONAME)             Library soname: [" +
         soname + "]\n 0x0000000000000000 (NULL)               0x0\n";
}

std::string no_section() {
  return "\nThere is no dynamic section in this file.\n";
}

}  // namespace

TEST_CASE("readelf reader: strings come from readelf, identity from the file", "[elf][readelf]") {
  FakeCommands commands;
  commands.outputs["readelf -dW -- /x.so"] = {0, section_of(library, "from-readelf"), ""};
  const auto reader = elf::make_readelf_reader(commands);
  CHECK(reader->name() == "readelf");
  const std::vector<ElfInput> inputs{input("/x.so", library)};
  const auto files = reader->read(inputs);
  REQUIRE(files.size() == 1);
  REQUIRE(files[0]);
  CHECK(files[0]->dynamic.soname == "from-readelf");
  CHECK(files[0]->dynamic.needed.empty());
  CHECK(files[0]->interp == "/lib64/ld-linux-x86-64.so.2");
  CHECK(files[0]->build_id == "42");
  CHECK(reader->fallbacks().empty());
}

TEST_CASE("readelf reader: one run reads many files, in order, and leaves out what is not ELF",
          "[elf][readelf]") {
  FakeCommands commands;
  commands.outputs["readelf -dW -- /x.so /prog /y.so"] = {
      1,
      "\nFile: /x.so\n" + section_of(library, "x") + "\nFile: /prog\n" + no_section() +
          "\nFile: /y.so\n" + section_of(other_library, "y"),
      ""};
  const std::vector<ElfInput> inputs{input("/x.so", library),
                                     input("/text", "hello"),
                                     input("/prog", program),
                                     input("/y.so", other_library)};
  const auto reader = elf::make_readelf_reader(commands);
  const auto files = reader->read(inputs);
  CHECK(commands.ran.size() == 1);
  REQUIRE(files.size() == 4);
  REQUIRE(files[0]);
  CHECK(files[0]->dynamic.soname == "x");
  REQUIRE_FALSE(files[1]);
  CHECK(files[1].error().reason == "file too short");
  REQUIRE(files[2]);
  CHECK_FALSE(files[2]->dynamic.present);
  REQUIRE(files[3]);
  CHECK(files[3]->dynamic.soname == "y");
}

TEST_CASE("readelf reader: the native reader steps in where readelf cannot be believed",
          "[elf][readelf]") {
  FakeCommands commands;
  std::string reason;
  SECTION("it says nothing") {
    commands.outputs["readelf"] = {1, "", "readelf: Error"};
    reason = "/x.so: readelf: it says nothing of the file";
  }
  SECTION("it sees no dynamic section") {
    commands.outputs["readelf"] = {0, no_section(), ""};
    reason = "/x.so: readelf sees another dynamic section than the loader";
  }
  SECTION("it reads another dynamic section") {
    commands.outputs["readelf"] = {0, section_of(other_library, "wrong"), ""};
    reason = "/x.so: readelf sees another dynamic section than the loader";
  }
  SECTION("it forges a row") {
    commands.outputs["readelf"] = {
        0, section_of(library, "x]\n 0x1 (NEEDED) Shared library: [evil.so"), ""};
    reason = "/x.so: readelf: not as many rows as it says";
  }
  const auto reader = elf::make_readelf_reader(commands);
  const std::vector<ElfInput> inputs{input("/x.so", library)};
  const auto files = reader->read(inputs);
  REQUIRE(files[0]);
  CHECK(*files[0] == *elf::read_elf(*memory_file(library), ""));
  CHECK(reader->fallbacks() == std::vector<std::string>{reason});
}

TEST_CASE("readelf reader: paths that the output could not name go to the native reader",
          "[elf][readelf]") {
  FakeCommands commands;
  commands.outputs["readelf"] = {0, section_of(library, "from-readelf"), ""};
  const auto reader = elf::make_readelf_reader(commands);
  const std::vector<ElfInput> inputs{input("/new\nline.so", library),
                                     input("-x", library),
                                     input("", library),
                                     input("/x.so", library),
                                     input("/x.so", library)};
  const auto files = reader->read(inputs);
  REQUIRE(files.size() == 5);
  REQUIRE(commands.ran.size() == 1);
  CHECK(commands.ran.front() == std::vector<std::string>{"readelf", "-dW", "--", "/x.so"});
  for (const std::size_t i : {0U, 1U, 2U, 4U}) {
    REQUIRE(files[i]);
    CHECK(files[i]->dynamic.soname == "libx.so.1");
  }
  REQUIRE(files[3]);
  CHECK(files[3]->dynamic.soname == "from-readelf");
  CHECK(reader->fallbacks().size() == 4);
}

TEST_CASE("readelf reader: without readelf every file is an error that says what to do",
          "[elf][readelf]") {
  const FakeCommands commands;
  const auto reader = elf::make_readelf_reader(commands);
  const std::vector<ElfInput> inputs{input("/x.so", library), input("/text", "hello")};
  const auto files = reader->read(inputs);
  REQUIRE(files.size() == 2);
  for (const auto& file : files) {
    REQUIRE_FALSE(file);
    CHECK(file.error().kind == ErrorKind::missing_tool);
    CHECK(file.error().hint == "install binutils, or use --elf native");
  }
}

TEST_CASE("readelf reader: many files take several runs, each below the kernel's limit",
          "[elf][readelf]") {
  FakeCommands commands;
  commands.outputs["readelf"] = {0, "", ""};
  std::vector<ElfInput> inputs;
  for (int i = 0; i < 1000; ++i) {
    inputs.push_back(input("/" + std::string(200, 'd') + "/" + std::to_string(i), program));
  }
  const auto files = elf::make_readelf_reader(commands)->read(inputs);
  CHECK(files.size() == 1000);
  CHECK(commands.ran.size() == 4);
  std::size_t paths = 0;
  for (const auto& argv : commands.ran) {
    paths += argv.size() - 3;
    std::size_t bytes = 0;
    for (const auto& argument : argv) {
      bytes += argument.size() + 1;
    }
    CHECK(bytes < 128 * 1024);
  }
  CHECK(paths == 1000);
}

TEST_CASE("readelf reader: after one that hung no other is started", "[elf][readelf]") {
  struct Hanging final : CommandRunner {
    mutable int runs = 0;

    Result<CommandOutput> run(const Command& command) const override {
      ++runs;
      CHECK(command.deadline.count() > 0);
      return Error{ErrorKind::interrupted, "run", "readelf", "it did not end in time", ""};
    }
  };

  const Hanging commands;
  const auto reader = elf::make_readelf_reader(commands);
  for (int i = 0; i < 3; ++i) {
    const std::vector<ElfInput> inputs{input("/x.so", library)};
    const auto files = reader->read(inputs);
    REQUIRE(files[0]);
    CHECK(files[0]->dynamic.soname == "libx.so.1");
  }
  CHECK(commands.runs == 1);
  CHECK(reader->fallbacks().size() == 3);
}
