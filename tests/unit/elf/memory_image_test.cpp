#include "elf/memory_image.hpp"

#include "support/catch.hpp"
#include "support/fake_target.hpp"

#include <elf.h>

#include <cstring>

namespace {

using tracso::ElfClass;
using tracso::ErrorKind;
using tracso::NeededEntry;
using tracso::elf::MemoryImage;
using tracso::test::FakeProcess;

/// A tiny object laid out by hand: header and program headers at 0, symbol and hash tables at
/// 0x200, dynamic section at 0x800, strings last.
struct Layout {
  ElfClass elf_class = ElfClass::elf64;
  std::uint64_t load = 0x7f0000000000;  // where the header lies
  std::uint64_t linked = 0;             // p_vaddr of the first segment
  bool relocated = true;                // as glibc leaves it; musl and the vDSO do not
  bool gnu_hash = true;
  std::uint32_t bloom = ~0U;  // of its filter: every name may be there
  bool phdr_segment = true;
  bool dynamic_segment = true;
  bool dynamic_end = true;
  std::uint64_t name_offset = 0;  // 0: the right one of DT_SONAME
};

class ImageBuilder {
 public:
  explicit ImageBuilder(const Layout& layout) : layout_(layout), bytes_(0x1000, '\0') {
    header();
    program_headers();
    symbols();
    layout_.gnu_hash ? gnu_hash() : sysv_hash();
    dynamic();
    std::memcpy(bytes_.data() + strings_at, strings.data(), strings.size());
  }

  FakeProcess process() const {
    FakeProcess fake;
    fake.memory[layout_.load] = bytes_;
    return fake;
  }

  std::uint64_t bias() const { return layout_.load - layout_.linked; }

  static constexpr std::uint64_t phdr_at = 0x40, symbols_at = 0x200, hash_at = 0x300,
                                 dynamic_at = 0x800, strings_at = 0xc00;

 private:
  // Offsets in it: libc.so.6 1, libme.so 11, answer 20, other 27, $ORIGIN/lib 33
  const std::string strings{"\0libc.so.6\0libme.so\0answer\0other\0$ORIGIN/lib\0", 45};

  bool wide() const { return layout_.elf_class == ElfClass::elf64; }

  template <class T>
  void put(std::uint64_t at, T value) {
    std::memcpy(bytes_.data() + at, &value, sizeof value);
  }

  void word(std::uint64_t at, std::uint64_t value) {
    wide() ? put(at, value) : put(at, static_cast<std::uint32_t>(value));
  }

  void header() {
    std::memcpy(bytes_.data(), ELFMAG, SELFMAG);
    put<std::uint8_t>(EI_CLASS, wide() ? ELFCLASS64 : ELFCLASS32);
    put<std::uint8_t>(EI_DATA, ELFDATA2LSB);
    word(wide() ? 32 : 28, phdr_at);
    put<std::uint16_t>(wide() ? 56 : 44, 3);
  }

  void program_header(std::uint64_t slot,
                      std::uint32_t type,
                      std::uint64_t offset,
                      std::uint64_t size) {
    const std::uint64_t at = phdr_at + slot * (wide() ? 56 : 32), first = at + (wide() ? 8 : 4);
    const std::uint64_t step = wide() ? 8 : 4;
    put(at, type);
    word(first, offset);
    word(first + step, layout_.linked + offset);
    word(first + 3 * step, size);
    word(first + 4 * step, size);
  }

  void program_headers() {
    program_header(0, layout_.phdr_segment ? PT_PHDR : PT_NULL, phdr_at, 3 * (wide() ? 56U : 32U));
    program_header(1, PT_LOAD, 0, bytes_.size());
    program_header(2, layout_.dynamic_segment ? PT_DYNAMIC : PT_NOTE, dynamic_at, 0x200);
  }

  // Symbol 1 "other" is undefined; 2 "answer" is a function, 3 "other" is an object.
  void symbol(std::uint64_t slot,
              std::uint32_t name,
              std::uint8_t type,
              std::uint16_t section,
              std::uint64_t value) {
    const std::uint64_t at = symbols_at + slot * (wide() ? 24 : 16);
    put(at, name);
    put<std::uint8_t>(at + (wide() ? 4 : 12), static_cast<std::uint8_t>(0x10U | type));
    put(at + (wide() ? 6 : 14), section);
    word(at + (wide() ? 8 : 4), layout_.linked + value);
    word(at + (wide() ? 16 : 8), 24);
  }

  void symbols() {
    symbol(1, 27, STT_OBJECT, SHN_UNDEF, 0);
    symbol(2, 20, STT_FUNC, 5, 0x123);
    symbol(3, 27, STT_OBJECT, 5, 0x456);
  }

  static std::uint32_t hash(std::string_view name) {
    std::uint32_t value = 5381;
    for (const char c : name) {
      value = value * 33 + static_cast<unsigned char>(c);
    }
    return value;
  }

  void gnu_hash() {  // one bucket, one bloom word
    put<std::uint32_t>(hash_at, 1);
    put<std::uint32_t>(hash_at + 4, 2);
    put<std::uint32_t>(hash_at + 8, 1);
    put<std::uint32_t>(hash_at + 16, layout_.bloom);
    if (wide()) {
      put<std::uint32_t>(hash_at + 20, layout_.bloom);
    }
    const std::uint64_t bucket = hash_at + 16 + (wide() ? 8 : 4);
    put<std::uint32_t>(bucket, 2);
    put<std::uint32_t>(bucket + 4, hash("answer") & ~1U);
    put<std::uint32_t>(bucket + 8, hash("other") | 1U);
  }

  void sysv_hash() {  // one bucket: 3, 2, 1
    for (std::uint32_t value = 0; const std::uint32_t half : {1U, 4U, 3U, 0U, 0U, 1U, 2U}) {
      put<std::uint32_t>(hash_at + 4 * value++, half);
    }
  }

  void dynamic() {
    const std::uint64_t base = layout_.linked + (layout_.relocated ? bias() : 0);
    const std::uint64_t soname = layout_.name_offset == 0 ? 11 : layout_.name_offset;
    std::uint64_t at = dynamic_at;
    for (const auto& [tag, value] : std::vector<std::pair<std::uint64_t, std::uint64_t>>{
             {DT_NEEDED, 1},
             {DT_SONAME, soname},
             {DT_RUNPATH, 33},
             {DT_STRTAB, base + strings_at},
             {DT_STRSZ, strings.size()},
             {DT_SYMTAB, base + symbols_at},
             {layout_.gnu_hash ? DT_GNU_HASH : DT_HASH, base + hash_at},
             {DT_AUXILIARY, 27},
             {DT_FLAGS_1, 0x800},
             {DT_NULL, 0}}) {
      word(at, tag == DT_NULL && !layout_.dynamic_end ? DT_BIND_NOW : tag);
      word(at + (wide() ? 8 : 4), value);
      at += wide() ? 16 : 8;
    }
  }

  Layout layout_;
  std::string bytes_;
};

Layout as32(Layout layout) {
  layout.elf_class = ElfClass::elf32;
  layout.load = 0xf7d00000;
  return layout;
}

}  // namespace

TEST_CASE("memory image: every way in gives the same facts", "[elf][memory]") {
  Layout layout;
  layout.elf_class = GENERATE(ElfClass::elf64, ElfClass::elf32);
  layout.relocated = GENERATE(true, false);
  layout.gnu_hash = GENERATE(true, false);
  layout.linked = GENERATE(0U, 0x400000U);
  if (layout.elf_class == ElfClass::elf32) {
    layout = as32(layout);
  }
  const int way = GENERATE(0, 1, 2);
  CAPTURE(
      layout.relocated, layout.gnu_hash, layout.linked, way, static_cast<int>(layout.elf_class));
  const ImageBuilder builder(layout);
  const FakeProcess process = builder.process();
  const auto image =
      way == 0 ? MemoryImage::at_header(process, layout.load)
      : way == 1
          ? MemoryImage::at_program_headers(
                process, layout.load + ImageBuilder::phdr_at, 3, layout.elf_class)
          : MemoryImage::at_dynamic(
                process, builder.bias(), layout.load + ImageBuilder::dynamic_at, layout.elf_class);
  REQUIRE(image);
  CHECK(image->elf_class() == layout.elf_class);
  CHECK(image->bias() == builder.bias());
  CHECK(image->program_headers().size() == (way == 2 ? 0 : 3));
  CHECK(image->dynamic_value(DT_NEEDED) == 1U);
  CHECK_FALSE(image->dynamic_value(DT_DEBUG));

  const auto section = image->dynamic_section(process);
  REQUIRE(section);
  CHECK(section->present);
  CHECK(section->soname == "libme.so");
  CHECK(section->runpath == "$ORIGIN/lib");
  CHECK_FALSE(section->rpath);
  CHECK(section->nodeflib());
  CHECK(section->needed == std::vector<NeededEntry>{{NeededEntry::Kind::needed, "libc.so.6"},
                                                    {NeededEntry::Kind::auxiliary, "other"}});

  const auto function = image->symbol(process, "answer");
  REQUIRE(function);
  CHECK(function->address == layout.load + 0x123);
  CHECK(function->size == 24);
  CHECK(function->type == STT_FUNC);
  const auto object = image->symbol(process, "other");
  REQUIRE(object);
  CHECK(object->address == layout.load + 0x456);
  CHECK(object->type == STT_OBJECT);
  CHECK_FALSE(image->symbol(process, "answe"));
  CHECK_FALSE(image->symbol(process, "absent"));
  CHECK_FALSE(image->symbol(process, ""));
}

TEST_CASE("memory image: a name that the filter rules out is not looked for", "[elf][memory]") {
  Layout layout;
  layout.elf_class = GENERATE(ElfClass::elf64, ElfClass::elf32);
  if (layout.elf_class == ElfClass::elf32) {
    layout = as32(layout);
  }
  layout.bloom = 0;
  const ImageBuilder builder(layout);
  const FakeProcess process = builder.process();
  const auto image = MemoryImage::at_header(process, layout.load);
  REQUIRE(image);
  CHECK_FALSE(image->symbol(process, "answer"));
}

TEST_CASE("memory image: a program linked to a fixed address has bias 0", "[elf][memory]") {
  Layout layout;
  layout.load = layout.linked = 0x400000;
  layout.phdr_segment = GENERATE(true, false);
  const FakeProcess process = ImageBuilder(layout).process();
  const auto image = MemoryImage::at_program_headers(process, 0x400040, 3, ElfClass::elf64);
  REQUIRE(image);
  CHECK(image->bias() == 0);
  CHECK(image->symbol(process, "answer")->address == 0x400123);
}

TEST_CASE("memory image: without PT_PHDR the ELF header gives the bias", "[elf][memory]") {
  Layout layout;
  layout.phdr_segment = false;
  const FakeProcess process = ImageBuilder(layout).process();
  const auto image =
      MemoryImage::at_program_headers(process, layout.load + 0x40, 3, ElfClass::elf64);
  REQUIRE(image);
  CHECK(image->bias() == layout.load);
}

TEST_CASE("memory image: a static program has no dynamic section", "[elf][memory]") {
  Layout layout;
  layout.dynamic_segment = false;
  const FakeProcess process = ImageBuilder(layout).process();
  const auto image = MemoryImage::at_header(process, layout.load);
  REQUIRE(image);
  const auto section = image->dynamic_section(process);
  REQUIRE(section);
  CHECK_FALSE(section->present);
  CHECK_FALSE(image->symbol(process, "answer"));
}

TEST_CASE("memory image: a dynamic section that ends where memory ends is read", "[elf][memory]") {
  Layout layout;
  FakeProcess process = ImageBuilder(layout).process();
  auto& bytes = process.memory[layout.load];
  const std::string strings = bytes.substr(ImageBuilder::strings_at);
  bytes.resize(ImageBuilder::dynamic_at + 10 * 16);
  process.memory[layout.load + ImageBuilder::strings_at] = strings;
  const auto image = MemoryImage::at_dynamic(
      process, layout.load, layout.load + ImageBuilder::dynamic_at, ElfClass::elf64);
  REQUIRE(image);
  CHECK(image->dynamic_section(process)->soname == "libme.so");
}

TEST_CASE("memory image: foreign nonsense is an error, not a crash", "[elf][memory]") {
  Layout layout;
  SECTION("no ELF header") {
    FakeProcess process = ImageBuilder(layout).process();
    process.memory[layout.load][1] = 'X';
    CHECK(MemoryImage::at_header(process, layout.load).error().kind == ErrorKind::malformed);
  }
  SECTION("the other byte order") {
    FakeProcess process = ImageBuilder(layout).process();
    process.memory[layout.load][EI_DATA] = ELFDATA2MSB;
    CHECK(MemoryImage::at_header(process, layout.load).error().kind == ErrorKind::malformed);
  }
  SECTION("no memory there") {
    const FakeProcess process = ImageBuilder(layout).process();
    CHECK_FALSE(MemoryImage::at_header(process, 0x1000));
    CHECK_FALSE(MemoryImage::at_dynamic(process, 0, 0x1000, ElfClass::elf64));
  }
  SECTION("too many program headers") {
    const FakeProcess process = ImageBuilder(layout).process();
    for (const std::uint64_t count : {std::uint64_t{0}, std::uint64_t{5000}, ~std::uint64_t{0}}) {
      const auto image =
          MemoryImage::at_program_headers(process, layout.load + 0x40, count, ElfClass::elf64);
      CHECK(image.error().kind == ErrorKind::malformed);
    }
  }
  SECTION("a name outside of the string table") {
    layout.name_offset = 45;
    const FakeProcess process = ImageBuilder(layout).process();
    const auto image = MemoryImage::at_header(process, layout.load);
    REQUIRE(image);
    CHECK(image->dynamic_section(process).error().kind == ErrorKind::malformed);
  }
  SECTION("a dynamic section without end") {
    FakeProcess process;
    process.memory[0x10000] = std::string(1U << 17U, '\1');
    CHECK(MemoryImage::at_dynamic(process, 0, 0x10000, ElfClass::elf64).error().kind ==
          ErrorKind::malformed);
    CHECK(process.memory_reads < 1000);
  }
  SECTION("hash tables that go in circles") {
    layout.gnu_hash = false;
    FakeProcess process = ImageBuilder(layout).process();
    // bucket -> 1 -> 1 ...
    const std::uint32_t one = 1;
    std::memcpy(process.memory[layout.load].data() + ImageBuilder::hash_at + 8, &one, 4);
    std::memcpy(process.memory[layout.load].data() + ImageBuilder::hash_at + 16, &one, 4);
    const auto image = MemoryImage::at_header(process, layout.load);
    REQUIRE(image);
    CHECK_FALSE(image->symbol(process, "answer"));
    CHECK(process.memory_reads < 20000);
  }
}

TEST_CASE("memory text: ends at NUL, page ends and the limit are respected", "[elf][memory]") {
  FakeProcess process;
  const std::string long_text(300, 'x');
  process.memory[0x1fc0] = std::string("before") + '\0' + long_text + '\0';
  process.memory[0x5ff8] = "no end!!";
  CHECK(tracso::elf::read_text(process, 0x1fc0) == "before");
  CHECK(tracso::elf::read_text(process, 0x1fc7, 301) == long_text);
  CHECK_FALSE(tracso::elf::read_text(process, 0x1fc7, 300));
  CHECK_FALSE(tracso::elf::read_text(process, 0x5ff8));
  CHECK_FALSE(tracso::elf::read_text(process, 0x9000));
}
