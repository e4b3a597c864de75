#include "elf/native_reader.hpp"

#include "support/build_elf.hpp"
#include "support/catch.hpp"
#include "support/fake_target.hpp"

#include <elf.h>

using namespace tracso;
using namespace tracso::test;

namespace {

Result<ElfFile> read(const std::string& bytes) {
  return elf::read_elf(*memory_file(bytes), "/lib/x.so");
}

ElfFile facts(const ElfSpec& spec) {
  const auto file = read(build_elf(spec));
  if (!file) {
    FAIL("refused: " << file.error().reason);
  }
  return *file;
}

std::string reason(const std::string& bytes) {
  const auto file = read(bytes);
  REQUIRE_FALSE(file);
  CHECK(file.error().kind == ErrorKind::malformed);
  CHECK(file.error().subject == "/lib/x.so");
  return file.error().reason;
}

std::string changed(std::string bytes, std::size_t at, const std::string& to) {
  return bytes.replace(at, to.size(), to);
}

ElfSpec full_spec() {
  ElfSpec spec;
  spec.os_abi = 3;
  spec.flags = 5;
  spec.interp = "/lib64/ld-linux-x86-64.so.2";
  spec.notes = {{"stapsdt", 3, "abcdefg"}, build_id_note("\x01\xab\xff"), build_id_note("later")};
  spec.dynamic = {soname("libx.so.1"),
                  needed("libc.so.6"),
                  text_entry(DT_AUXILIARY, "libfast.so"),
                  needed(""),
                  text_entry(DT_FILTER, "libreal.so"),
                  needed("$ORIGIN/../lib/libpython3.12.so.1.0"),
                  rpath("/old"),
                  runpath("$ORIGIN:/opt/lib"),
                  text_entry(DT_AUDIT, "a.so:b.so"),
                  text_entry(DT_DEPAUDIT, "c.so"),
                  value_entry(DT_FLAGS, DF_STATIC_TLS),
                  value_entry(DT_FLAGS_1, DF_1_NODEFLIB | DF_1_NOW)};
  return spec;
}

/// A File that counts its reads.
class CountingFile final : public File {
 public:
  explicit CountingFile(std::string content) : file_(memory_file(std::move(content))) {}

  Result<FileStatus> status() const override { return file_->status(); }

  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) const override {
    ++reads;
    return file_->read_at(offset, into);
  }

  mutable int reads = 0;

 private:
  std::unique_ptr<File> file_;
};

class BrokenFile final : public File {
 public:
  Result<FileStatus> status() const override { return FileStatus{}; }

  Result<std::size_t> read_at(std::uint64_t /*offset*/,
                              std::span<std::byte> /*into*/) const override {
    return Error{ErrorKind::failed, "read", "/lib/x.so", "input/output error", ""};
  }
};

}  // namespace

TEST_CASE("native reader: all facts are the same in both classes and byte orders", "[elf]") {
  for (const ElfClass elf_class : {ElfClass::elf32, ElfClass::elf64}) {
    for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
      ElfSpec spec = full_spec();
      spec.elf_class = elf_class;
      spec.byte_order = order;
      const ElfFile file = facts(spec);
      CHECK(file.elf_class == elf_class);
      CHECK(file.byte_order == order);
      CHECK(file.os_abi == 3);
      CHECK(file.type == ET_DYN);
      CHECK(file.machine == EM_X86_64);
      CHECK(file.flags == 5);
      CHECK(file.interp == "/lib64/ld-linux-x86-64.so.2");
      CHECK(file.build_id == "01abff");
      CHECK_FALSE(file.executable_stack);
      CHECK(file.dynamic.present);
      CHECK(file.dynamic.soname == "libx.so.1");
      CHECK(file.dynamic.rpath == "/old");
      CHECK(file.dynamic.runpath == "$ORIGIN:/opt/lib");
      CHECK(file.dynamic.audit == std::vector<std::string>{"a.so:b.so"});
      CHECK(file.dynamic.depaudit == std::vector<std::string>{"c.so"});
      CHECK(file.dynamic.flags == DF_STATIC_TLS);
      CHECK(file.dynamic.flags_1 == (DF_1_NODEFLIB | DF_1_NOW));
      CHECK(file.dynamic.nodeflib());
      using Kind = NeededEntry::Kind;
      const std::vector<NeededEntry> in_order{
          {Kind::needed, "libc.so.6"},
          {Kind::auxiliary, "libfast.so"},
          {Kind::needed, ""},
          {Kind::filter, "libreal.so"},
          {Kind::needed, "$ORIGIN/../lib/libpython3.12.so.1.0"}};
      CHECK(file.dynamic.needed == in_order);
    }
  }
}

TEST_CASE("native reader: an ordinary library costs four reads at most", "[elf]") {
  ElfSpec spec = full_spec();
  for (int i = 0; i < 400; ++i) {
    spec.symbols.push_back(
        {.name = "a_rather_long_symbol_name_to_fill_pages_" + std::to_string(i)});
  }
  const CountingFile file(build_elf(spec));
  REQUIRE(elf::read_elf(file, "x"));
  CHECK(file.reads <= 4);
}

TEST_CASE("native reader: of a repeated soname or flag the last counts, as in the loader",
          "[elf]") {
  const ElfFile file = facts({.dynamic = {soname("first"),
                                          soname("last"),
                                          value_entry(DT_FLAGS_1, 1),
                                          value_entry(DT_FLAGS_1, 0x800)}});
  CHECK(file.dynamic.soname == "last");
  CHECK(file.dynamic.flags_1 == 0x800);
}

TEST_CASE("native reader: an empty RUNPATH is not a missing one", "[elf]") {
  const ElfFile file = facts({.dynamic = {runpath("")}});
  CHECK(file.dynamic.runpath == "");
  CHECK(file.dynamic.rpath == std::nullopt);
}

TEST_CASE("native reader: a static program has no dynamic section and that is no error", "[elf]") {
  const ElfFile file = facts({.type = ET_EXEC, .has_dynamic = false});
  CHECK_FALSE(file.dynamic.present);
  CHECK(file.type == ET_EXEC);
  CHECK(file.interp.empty());
}

TEST_CASE("native reader: the stack is executable where asked for or where glibc assumes it",
          "[elf]") {
  CHECK(facts({.stack_flags = PF_R | PF_W | PF_X}).executable_stack);
  CHECK_FALSE(facts({.stack_flags = PF_R | PF_W}).executable_stack);
  CHECK(facts({.machine = EM_X86_64, .stack_flags = std::nullopt}).executable_stack);
  CHECK(facts({.machine = EM_386, .stack_flags = std::nullopt}).executable_stack);
  CHECK_FALSE(facts({.machine = EM_AARCH64, .stack_flags = std::nullopt}).executable_stack);
  CHECK_FALSE(facts({.machine = EM_RISCV, .stack_flags = std::nullopt}).executable_stack);
  CHECK(facts({.machine = EM_AARCH64, .stack_flags = PF_R | PF_X}).executable_stack);
}

TEST_CASE("native reader: text of any length up to the limit is read whole", "[elf]") {
  const std::string long_path(elf::longest_text - 1, 'p');
  CHECK(facts({.dynamic = {runpath(long_path), needed("libc.so.6")}}).dynamic.runpath == long_path);
  CHECK(reason(build_elf({.dynamic = {runpath(long_path + "p")}})) ==
        "a name is longer than 64 KB");
}

TEST_CASE("native reader: a newline in a soname is a letter like any other", "[elf]") {
  const std::string forged =
      "x]\n 0x0000000000000001 (NEEDED)             Shared library: [evil.so";
  const ElfFile file = facts({.dynamic = {soname(forged)}});
  CHECK(file.dynamic.soname == forged);
  CHECK(file.dynamic.needed.empty());
}

TEST_CASE("native reader: refusals use the loader's words", "[elf]") {
  const std::string good = build_elf(full_spec());
  CHECK(reason("") == "file too short");
  CHECK(reason("/* GNU ld script */") == "file too short");
  CHECK(
      reason("/* GNU ld script */ GROUP ( /lib/x86_64-linux-gnu/libc.so.6 AS_NEEDED ( ld.so ) )") ==
      "invalid ELF header");
  CHECK(reason(good.substr(0, 63)) == "file too short");
  CHECK(reason(changed(good, EI_CLASS, "\x03")) == "wrong ELF class");
  CHECK(reason(changed(good, EI_DATA, "\x03")) == "ELF file data encoding not little-endian");
  CHECK(reason(changed(good, EI_VERSION, "\x02")) ==
        "ELF file version ident does not match current one");
  CHECK(reason(changed(good, 20, "\x02")) == "ELF file version does not match current one");
  CHECK(reason(build_elf({.type = ET_REL})) == "only ET_DYN and ET_EXEC can be loaded");
  CHECK(reason(build_elf({.type = ET_CORE})) == "only ET_DYN and ET_EXEC can be loaded");
  CHECK(reason(changed(good, 54, "\x38\x01")) == "ELF file's phentsize not the expected size");
  CHECK(reason(changed(good, 56, "\x90\x04")) == "cannot read file data");
  CHECK(reason(changed(good, 56, "\xff\xff")) == "more program headers than the kernel takes");
  CHECK(reason(changed(good, 32, "\xff\xff\xff\xff\xff\xff\xff\xff")) == "cannot read file data");
}

TEST_CASE("native reader: strings without a string table are refused, numbers are not", "[elf]") {
  CHECK(reason(build_elf({.has_string_table = false, .dynamic = {needed("libc.so.6")}})) ==
        "the dynamic section has no string table");
  CHECK(facts({.has_string_table = false, .dynamic = {value_entry(DT_FLAGS, 2)}}).dynamic.flags ==
        2);
}

TEST_CASE("native reader: offsets that lead out of the file are refused", "[elf]") {
  const auto with = [](std::uint64_t tag, std::uint64_t value) {
    return build_elf({.has_string_table = tag != DT_STRTAB,
                      .dynamic = {value_entry(DT_NEEDED, tag == DT_STRTAB ? 1 : value),
                                  value_entry(tag, value)}});
  };
  const std::string outside = "a name lies outside the file";
  CHECK(reason(with(DT_NEEDED, 0x7fffffffffffffff)) == outside);
  CHECK(reason(with(DT_NEEDED, ~std::uint64_t{0} - 0x20000)) == outside);
  CHECK(reason(with(DT_STRTAB, 0)) == outside);
  CHECK(reason(with(DT_STRTAB, ~std::uint64_t{0})) == outside);
}

TEST_CASE("native reader: a text that runs to the end of its segment is refused", "[elf]") {
  // The file ends in DT_NULL: make its last byte a letter and let the one name start there.
  const auto with_name_at = [](std::uint64_t offset) {
    return build_elf(
        {.has_string_table = false,
         .dynamic = {value_entry(DT_STRTAB, 0x10000), value_entry(DT_NEEDED, offset)}});
  };
  std::string bytes = with_name_at(with_name_at(0).size() - 1);
  bytes.back() = 'x';
  CHECK(reason(bytes) == "a name does not end");
}

TEST_CASE("native reader: absurd counts are refused in bounded time", "[elf]") {
  ElfSpec many;
  many.dynamic.assign(20000, value_entry(DT_DEBUG, 1));
  CHECK(reason(build_elf(many)) == "more entries in the dynamic section than any linker writes");
  ElfSpec repeated;
  repeated.dynamic.assign(4000, needed(std::string(1000, 'n')));
  CHECK(reason(build_elf(repeated)) == "more text than any linker writes");
}

TEST_CASE("native reader: notes that make no sense are passed over", "[elf]") {
  const std::string far(1, '\xff');
  ElfSpec spec = full_spec();
  const std::string good = build_elf(spec);
  const std::size_t notes = good.find("stapsdt") - 12;
  for (std::size_t i = 0; i < 8; ++i) {
    CHECK(facts(spec).build_id == "01abff");
    const auto file = read(changed(good, notes + i, far));
    REQUIRE(file);
    CHECK(file->dynamic.soname == "libx.so.1");
  }
  spec.notes = {build_id_note(std::string(65, 'x')), {"XYZ", NT_GNU_BUILD_ID, "other"}};
  CHECK(facts(spec).build_id.empty());
}

TEST_CASE("native reader: a dynamic section that is only in memory has no entries", "[elf]") {
  // As in a file of debug symbols: p_filesz of PT_LOAD ends before it.
  std::string bytes = build_elf({.dynamic = {needed("libc.so.6")}});
  bytes = changed(bytes, 64 + 32, std::string("\x10\0\0\0\0\0\0\0", 8));
  const auto file = read(bytes);
  REQUIRE(file);
  CHECK(file->dynamic.present);
  CHECK(file->dynamic.needed.empty());
}

TEST_CASE("native reader: cut or damaged anywhere, a file gives facts or an error", "[elf]") {
  for (const ElfClass elf_class : {ElfClass::elf32, ElfClass::elf64}) {
    ElfSpec spec = full_spec();
    spec.elf_class = elf_class;
    const std::string good = build_elf(spec);
    for (std::size_t length = 0; length < good.size(); ++length) {
      const auto file = read(good.substr(0, length));
      // The last entry, DT_NULL, is all that may be missing.
      CHECK((!file || length + (elf_class == ElfClass::elf64 ? 16 : 8) > good.size()));
    }
    for (std::size_t at = 0; at < good.size(); ++at) {
      const auto flipped = read(changed(good, at, std::string(1, static_cast<char>(~good[at]))));
      CHECK((flipped || !flipped.error().reason.empty()));
    }
  }
}

TEST_CASE("native reader: one result per input, in order; errors of the files are passed on",
          "[elf]") {
  const std::string good = build_elf(full_spec());
  const auto reader = elf::make_native_reader();
  const std::vector<ElfInput> inputs{
      {"/a", "", [&] { return Result<std::unique_ptr<File>>(memory_file(good)); }},
      {"/b",
       "",
       [] {
         return Result<std::unique_ptr<File>>(Error{ErrorKind::denied, "open", "/b", "no", ""});
       }},
      {"/c", "", [] { return Result<std::unique_ptr<File>>(std::make_unique<BrokenFile>()); }},
      {"/d", "", [] { return Result<std::unique_ptr<File>>(memory_file("text")); }}};
  const auto files = reader->read(inputs);
  CHECK(reader->name() == "native");
  REQUIRE(files.size() == 4);
  CHECK(files[0]);
  REQUIRE_FALSE(files[1]);
  CHECK(files[1].error().kind == ErrorKind::denied);
  REQUIRE_FALSE(files[2]);
  CHECK(files[2].error().reason == "input/output error");
  REQUIRE_FALSE(files[3]);
  CHECK(files[3].error().subject == "/d");
}

TEST_CASE("native reader: a PT_DYNAMIC without bytes in the file is none, as for the loader",
          "[elf]") {
  std::string bytes = build_elf({.dynamic = {soname("x")}});
  const auto file = memory_file(bytes);
  const auto image = elf::FileImage::open(*file, "");
  REQUIRE(image);
  // Its p_filesz, 32 bytes into the header that has its offset 8 bytes in.
  for (std::size_t at = 64; at + 56 <= bytes.size() && at < 1024; at += 56) {
    if (bytes[at] == PT_DYNAMIC && bytes[at + 1] == 0 && bytes[at + 2] == 0 && bytes[at + 3] == 0) {
      bytes.replace(at + 32, 8, std::string(8, '\0'));
      break;
    }
  }
  const auto read = elf::read_elf(*memory_file(bytes), "");
  REQUIRE(read);
  CHECK_FALSE(read->dynamic.present);
  CHECK_FALSE(read->dynamic.soname);
}

TEST_CASE("native reader: the ISA level comes out of the GNU properties", "[elf]") {
  std::string property("\x02\x80\x00\xc0\x04\x00\x00\x00\x0e\x00\x00\x00\x00\x00\x00\x00", 16);
  ElfSpec spec;
  spec.notes = {{"GNU", 5, property}};
  std::string bytes = build_elf(spec);
  // The builder writes PT_NOTE only; glibc looks at PT_GNU_PROPERTY.
  CHECK(elf::read_elf(*memory_file(bytes), "")->isa_needed == 0);
  for (std::size_t at = 64; at + 56 <= bytes.size() && at < 1024; at += 56) {
    if (bytes[at] == PT_NOTE && bytes[at + 1] == 0 && bytes[at + 2] == 0 && bytes[at + 3] == 0) {
      bytes.replace(at, 4, "\x53\xe5\x74\x64");
      break;
    }
  }
  CHECK(elf::read_elf(*memory_file(bytes), "")->isa_needed == 0xe);
}
