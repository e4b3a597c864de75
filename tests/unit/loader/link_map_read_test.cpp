#include "loader/link_map.hpp"
#include "support/build_elf.hpp"
#include "support/catch.hpp"
#include "support/fake_loader.hpp"

#include <link.h>

#include <array>
#include <cstring>
#include <functional>
#include <string>

namespace {

using namespace tracso;
using loader::LinkMapEntry;
using loader::read_link_maps;
using test::FakeLayout;
using test::FakeLoader;
using test::FakeObject;
using test::usual_objects;
using Start = LinkMapEntry::Start;

Result<loader::LinkMaps> read(const FakeLoader& fake) {
  return read_link_maps(fake.process, fake.mappings, fake.auxv);
}

FakeObject dlopened(std::string name, std::uint64_t base) {
  FakeObject object;
  object.name = name;
  object.bias = base;
  object.dynamic = base + 0x80;
  object.requested = {name};
  object.type = 2;
  object.opens = 2;
  return object;
}

/// Memory that changes after a number of reads.
class ChangingProcess final : public ProcessSource {
 public:
  ChangingProcess(FakeLoader& fake,
                  std::function<void(FakeLoader&, int)> change,
                  bool may_read_ahead = false)
      : fake_(fake), change_(std::move(change)), may_read_ahead_(may_read_ahead) {}

  std::int32_t pid() const override { return 1; }

  Result<std::string> read(std::string_view name) const override {
    return fake_.process.read(name);
  }

  Result<std::string> read_link(std::string_view name) const override {
    return fake_.process.read_link(name);
  }

  Result<std::vector<std::string>> list(std::string_view name) const override {
    return fake_.process.list(name);
  }

  Result<Done> read_memory(std::uint64_t address, std::span<std::byte> into) const override {
    change_(fake_, ++reads_);
    return fake_.process.read_memory(address, into);
  }

  void read_memory(std::span<MemoryRead> pieces) const override {
    change_(fake_, ++reads_);
    fake_.process.read_memory(pieces);
  }

  bool may_read_ahead() const override { return may_read_ahead_; }

  Result<std::unique_ptr<File>> open_mapped(const MappedRange& range) const override {
    return fake_.process.open_mapped(range);
  }

 private:
  FakeLoader& fake_;
  std::function<void(FakeLoader&, int)> change_;
  bool may_read_ahead_;
  mutable int reads_ = 0;
};

}  // namespace

TEST_CASE("link map: names, requesters and starts of both word sizes", "[loader][linkmap]") {
  FakeLayout layout;
  layout.elf_class = GENERATE(ElfClass::elf64, ElfClass::elf32);
  layout.info_words = GENERATE(77U, 80U, 84U);  // glibc 2.31, 2.36, 2.41
  layout.loader_base = 0xf7f00000;
  auto objects = usual_objects();
  objects.push_back(dlopened("/opt/a/rather/long/path/for/a/plugin/libplugin.so", 0xf7000000));
  auto dependency = dlopened("/opt/libdep.so.1.2.3", 0xf7100000);
  dependency.requested = {"libdep.so.1", "libdep.so", "/opt/./libdep.so"};
  dependency.requester = 3;
  dependency.opens = 0;
  objects.push_back(dependency);
  const FakeLoader fake(layout, objects);
  const auto maps = read(fake);
  REQUIRE(maps);
  CHECK(maps->elf_class == layout.elf_class);
  CHECK(maps->via == "DT_DEBUG");
  CHECK(maps->consistent);
  CHECK(maps->tries == 1);
  CHECK(maps->private_reason == "");
  REQUIRE(maps->private_fields);
  CHECK(maps->loader == 2U);
  REQUIRE(maps->entries.size() == 5);
  for (std::size_t i = 0; i < 5; ++i) {
    const auto& entry = maps->entries[i];
    CAPTURE(i);
    CHECK(entry.address == fake.record(i));
    CHECK(entry.name == objects[i].name);
    CHECK(entry.bias == objects[i].bias);
    CHECK(entry.dynamic == objects[i].dynamic);
    CHECK(entry.requested == objects[i].requested);
    CHECK(entry.requester == objects[i].requester);
    CHECK(entry.direct_opens == objects[i].opens);
    CHECK(entry.space == 0);
    CHECK(entry.position == i);
    CHECK_FALSE(entry.proxy);
    REQUIRE(entry.mapping);
    CHECK(fake.mappings[*entry.mapping].name == entry.name);
  }
  CHECK(maps->entries[0].start == Start::program);
  CHECK(maps->entries[1].start == Start::startup);
  CHECK(maps->entries[4].start == Start::dlopened);
}

TEST_CASE("link map: every namespace of dlmopen is read", "[loader][linkmap]") {
  FakeLayout layout;
  layout.elf_class = GENERATE(ElfClass::elf64, ElfClass::elf32);
  layout.loader_base = 0xf7f00000;
  auto objects = usual_objects();
  auto plugin = dlopened("/opt/libplugin.so", 0xf6000000);
  plugin.space = 1;
  auto stand_in = dlopened("/lib/ld.so", 0);
  stand_in.space = 1;
  stand_in.dynamic = 0;
  stand_in.real = 2;
  objects.push_back(plugin);
  objects.push_back(stand_in);
  const auto maps = read(FakeLoader(layout, objects));
  REQUIRE(maps);
  REQUIRE(maps->private_fields);
  REQUIRE(maps->entries.size() == 5);
  CHECK(maps->entries[3].space == 1);
  CHECK(maps->entries[3].position == 0);
  CHECK(maps->entries[4].position == 1);
  CHECK(maps->entries[4].proxy);
  CHECK(maps->entries[4].bias == 0xf7f00000);
  CHECK(maps->entries[4].mapping == maps->entries[2].mapping);
}

TEST_CASE("link map: namespaces of an old glibc, which chains none", "[loader][linkmap]") {
  FakeLayout layout;
  layout.loader_base = 0xf7f00000;
  auto objects = usual_objects();
  auto plugin = dlopened("/opt/libplugin.so", 0xf6000000);
  plugin.space = 1;
  objects.push_back(plugin);
  FakeLoader fake(layout, objects);
  constexpr std::uint64_t breakpoint = 0xf7f01230;
  fake.poke(fake.debug(0), 1);
  fake.poke(fake.debug(0) + 2 * 8, breakpoint);
  fake.poke(fake.debug(0) + 5 * 8, fake.debug(1));  // no longer the next one
  test::ElfSpec spec;
  spec.load_address = 0;
  test::ElfSymbol global;
  global.name = "_rtld_global";
  global.value = 0x2000;
  global.size = 0x400;
  spec.symbols = {global};
  std::string image = test::build_elf(spec);
  image.resize(0x3000);
  const auto put_debug =
      [&](std::size_t at, std::uint64_t first, std::uint64_t stop, std::uint64_t state = 0) {
        const std::uint64_t words[] = {1, first, stop, state, layout.loader_base};
        std::memcpy(image.data() + at, words, sizeof words);
      };
  put_debug(0x2098, fake.record(3), breakpoint);
  put_debug(0x2198, 0, breakpoint);                   // not in use
  put_debug(0x2298, fake.record(2), breakpoint + 8);  // something else
  fake.process.memory[layout.loader_base] = image;
  const auto maps = read(fake);
  REQUIRE(maps);
  CHECK(maps->consistent);
  REQUIRE(maps->private_fields);
  REQUIRE(maps->entries.size() == 4);
  CHECK(maps->entries[3].name == "/opt/libplugin.so");
  CHECK(maps->entries[3].space == 1);
  CHECK(maps->entries[3].position == 0);

  // The first object of another one is about to come: there is no list of it yet.
  put_debug(0x2198, 0, breakpoint, r_debug::RT_ADD);
  fake.process.memory[layout.loader_base] = image;
  const auto working = read(fake);
  REQUIRE(working);
  CHECK_FALSE(working->consistent);
  CHECK(working->inconsistency == "the loader is adding objects");
}

TEST_CASE("link map: what does not look like glibc has public fields only", "[loader][linkmap]") {
  FakeLayout layout;
  SECTION("the program's mark is not there") {
    layout.marked = false;
    const auto maps = read(FakeLoader(layout, usual_objects()));
    REQUIRE(maps);
    CHECK_FALSE(maps->private_fields);
    CHECK(maps->private_reason == "the program's record does not look like one of glibc");
    CHECK(maps->entries.size() == 3);
    CHECK(maps->entries[1].name == "/lib/libc.so.6");
    CHECK(maps->entries[1].start == Start::unknown);
  }
  const auto refused = [&](FakeLoader& fake, std::string_view reason) {
    const auto maps = read(fake);
    REQUIRE(maps);
    CHECK(maps->consistent);
    CHECK_FALSE(maps->private_fields);
    CHECK(maps->private_reason == reason);
    for (const auto& entry : maps->entries) {
      CHECK(entry.start == Start::unknown);
      CHECK(entry.requested.empty());
      CHECK_FALSE(entry.requester);
      CHECK(entry.direct_opens == 0);
    }
  };
  SECTION("a requester is no object") {
    FakeLoader fake(layout, usual_objects());
    fake.poke(fake.requester_field(1), fake.record(0) + 8);
    refused(fake, "object 1: the object that requested it is not in the list");
  }
  SECTION("a type out of range") {
    auto objects = usual_objects();
    objects[2].type = 3;
    FakeLoader fake(layout, objects);
    refused(fake, "object 2: it is of no known type");
  }
  SECTION("the first object is a library") {
    auto objects = usual_objects();
    objects[0].type = 1;
    FakeLoader fake(layout, objects);
    refused(fake, "the first object is not the program");
  }
  SECTION("an absurd count") {
    auto objects = usual_objects();
    objects[1].opens = 0x7f000000;
    FakeLoader fake(layout, objects);
    refused(fake, "object 1: its count of dlopen calls is beyond belief");
  }
  SECTION("l_real leads elsewhere") {
    FakeLoader fake(layout, usual_objects());
    fake.poke(fake.record(2) + 5 * 8, 0x1234);
    refused(fake, "object 2: its l_real is not in the list");
  }
  SECTION("a namespace glibc has no room for") {
    FakeLoader fake(layout, usual_objects());
    fake.poke(fake.record(2) + 6 * 8, 99);
    refused(fake, "object 2: its namespace is out of range");
  }
  SECTION("a list of names in a circle") {
    auto objects = usual_objects();
    FakeLoader fake(layout, objects);
    std::uint64_t node = 0;
    std::memcpy(&node, fake.heap().data() + (fake.record(1) + 7 * 8 - fake.heap_start()), 8);
    fake.poke(node + 8, node);
    refused(fake, "object 1: its list of names is damaged");
  }
}

TEST_CASE("link map: a change while reading is noticed and read again", "[loader][linkmap]") {
  FakeLayout layout;
  auto objects = usual_objects();
  objects.push_back(dlopened("/opt/libplugin.so", 0xf6000000));
  FakeLoader fake(layout, objects);
  SECTION("the last object goes away between the first and the second look") {
    const ChangingProcess process(fake, [](FakeLoader& memory, int reads) {
      if (reads == 8) {
        memory.poke(memory.record(2) + 3 * 8, 0);  // l_next of the one before it
      }
    });
    const auto maps = read_link_maps(process, fake.mappings, fake.auxv);
    REQUIRE(maps);
    CHECK(maps->consistent);
    CHECK(maps->tries == 2);
    CHECK(maps->entries.size() == 3);
  }
  SECTION("a name that is overwritten meanwhile is not believed") {
    const ChangingProcess process(fake, [](FakeLoader& memory, int reads) {
      if (reads == 12) {
        const auto at = memory.heap().find("/opt/libplugin.so");
        memory.heap().replace(at, 4, "/new");
      }
    });
    const auto maps = read_link_maps(process, fake.mappings, fake.auxv);
    REQUIRE(maps);
    CHECK(maps->tries == 2);
    CHECK(maps->entries[3].name == "/new/libplugin.so");
  }
  SECTION("the loader is at work at first") {
    fake.poke(fake.debug(0) + 3 * 8, 1);
    const ChangingProcess process(fake, [](FakeLoader& memory, int reads) {
      if (reads == 40) {
        memory.poke(memory.debug(0) + 3 * 8, 0);
      }
    });
    const auto maps = read_link_maps(process, fake.mappings, fake.auxv);
    REQUIRE(maps);
    CHECK(maps->consistent);
    CHECK(maps->tries > 1);
  }
  SECTION("the loader never comes to rest") {
    fake.poke(fake.debug(0) + 3 * 8, 2);
    const auto maps = read(fake);
    REQUIRE(maps);
    CHECK_FALSE(maps->consistent);
    CHECK(maps->inconsistency == "the loader is removing objects");
    CHECK(maps->entries.size() == 4);
  }
  SECTION("it changes all the time") {
    const ChangingProcess process(fake, [](FakeLoader& memory, int reads) {
      memory.poke(memory.record(1), static_cast<std::uint64_t>(reads));
    });
    const auto maps = read_link_maps(process, fake.mappings, fake.auxv);
    REQUIRE(maps);
    CHECK_FALSE(maps->consistent);
    CHECK(maps->inconsistency == "the list of objects changed while it was read");
  }
}

TEST_CASE("link map: a long list takes few reads where it may be read ahead", "[loader][linkmap]") {
  auto objects = usual_objects();
  for (std::uint64_t i = 0; i < 60; ++i) {
    objects.push_back(dlopened("/opt/libplugin.so." + std::to_string(i), 0xe0000000 + (i << 20)));
  }
  FakeLoader fake(FakeLayout{}, objects);
  std::array<int, 2> reads{};
  for (const bool ahead : {false, true}) {
    const ChangingProcess process(
        fake, [&](FakeLoader&, int) { ++reads.at(ahead ? 1 : 0); }, ahead);
    const auto maps = read_link_maps(process, fake.mappings, fake.auxv);
    REQUIRE(maps);
    CHECK(maps->consistent);
    CHECK(maps->private_fields);
    REQUIRE(maps->entries.size() == objects.size());
    for (std::size_t i = 0; i < objects.size(); ++i) {
      CHECK(maps->entries[i].name == objects[i].name);
    }
  }
  CHECK(reads[0] > 60);
  CHECK(reads[1] < 45);
}

TEST_CASE("link map: read ahead or not, a change at any moment gives the list before or after it",
          "[loader][linkmap]") {
  auto objects = usual_objects();
  objects.push_back(dlopened("/opt/libplugin.so", 0xf6000000));
  const bool ahead = GENERATE(false, true);
  bool had_before = false, had_after = false;
  for (int moment = 1; moment < 60; ++moment) {
    FakeLoader fake(FakeLayout{}, objects);
    const ChangingProcess process(
        fake,
        [&](FakeLoader& memory, int reads) {
          if (reads == moment) {
            memory.poke(memory.record(2) + 3 * 8, 0);  // the last object goes away
          }
        },
        ahead);
    const auto maps = read_link_maps(process, fake.mappings, fake.auxv);
    CAPTURE(moment, ahead);
    REQUIRE(maps);
    CHECK(maps->consistent);
    const bool before = maps->entries.size() == 4, after = maps->entries.size() == 3;
    CHECK((before || after));
    had_before = had_before || before;
    had_after = had_after || after;
  }
  CHECK(had_before);
  CHECK(had_after);
}

TEST_CASE("link map: damaged lists end and are marked", "[loader][linkmap]") {
  FakeLayout layout;
  FakeLoader fake(layout, usual_objects());
  SECTION("a circle of objects") {
    fake.poke(fake.record(2) + 3 * 8, fake.record(1));
    const auto maps = read(fake);
    REQUIRE(maps);
    CHECK(maps->inconsistency == "the list of objects goes in a circle");
    CHECK(maps->entries.size() == 3);
  }
  SECTION("a link to nowhere") {
    fake.poke(fake.record(0) + 3 * 8, 0x99);
    const auto maps = read(fake);
    REQUIRE(maps);
    CHECK_FALSE(maps->consistent);
    CHECK(maps->inconsistency == "the list of objects leads to where no memory is");
    CHECK(maps->entries.size() == 1);
  }
  SECTION("a circle of namespaces") {
    fake.poke(fake.debug(0), 2);
    fake.poke(fake.debug(0) + 5 * 8, fake.debug(0));
    const auto maps = read(fake);
    REQUIRE(maps);
    CHECK(maps->inconsistency == "the list of namespaces is damaged");
  }
  SECTION("a first object that is nowhere") {
    fake.poke(fake.debug(0) + 8, 0x99);
    const auto maps = read(fake);
    REQUIRE_FALSE(maps);
    CHECK(maps.error().kind == ErrorKind::malformed);
  }
  SECTION("r_debug is nowhere") {
    std::uint64_t nowhere = 0x42;
    std::memcpy(fake.process.memory.at(0x56550000).data() + 0x400 + 24, &nowhere, 8);
    CHECK(read(fake).error().kind == ErrorKind::malformed);
  }
}

TEST_CASE("link map: processes without one say why", "[loader][linkmap]") {
  FakeLayout layout;
  SECTION("statically linked") {
    layout.dt_debug = false;
    const auto maps = read(FakeLoader(layout, usual_objects()));
    REQUIRE_FALSE(maps);
    CHECK(maps.error().kind == ErrorKind::unsupported);
    CHECK(maps.error().reason == "no DT_DEBUG: statically linked");
  }
  SECTION("not started yet") {
    FakeLoader fake(layout, usual_objects());
    fake.poke(fake.debug(0) + 8, 0);
    const auto maps = read(fake);
    REQUIRE_FALSE(maps);
    CHECK(maps.error().kind == ErrorKind::not_found);
  }
  SECTION("memory denied") {
    FakeLoader fake(layout, usual_objects());
    fake.process.denied.insert("memory");
    CHECK(read(fake).error().kind == ErrorKind::denied);
  }
}
