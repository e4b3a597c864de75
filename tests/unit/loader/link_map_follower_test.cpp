#include "loader/link_map_follower.hpp"

#include "support/catch.hpp"
#include "support/fake_loader.hpp"

#include <fmt/format.h>

#include <elf.h>

#include <algorithm>

namespace {

using namespace tracso;
using loader::LinkMapFollower;
using test::FakeLayout;
using test::FakeLoader;
using test::FakeObject;
using Start = loader::LinkMapEntry::Start;

/// auxv and maps as text: what the follower reads to begin with.
void add_texts(FakeLoader& fake) {
  std::string auxv;
  const std::size_t word = fake.word();
  const auto put = [&](std::uint64_t tag, std::uint64_t value) {
    auxv.append(reinterpret_cast<const char*>(&tag), word);
    auxv.append(reinterpret_cast<const char*>(&value), word);
  };
  put(AT_PHDR, fake.auxv.phdr);
  put(AT_PHENT, fake.auxv.phent);
  put(AT_PHNUM, fake.auxv.phnum);
  put(AT_ENTRY, fake.auxv.entry);
  put(AT_BASE, fake.auxv.base);
  put(AT_NULL, 0);
  fake.process.texts["auxv"] = auxv;
  std::string maps;
  for (const Mapping& mapping : fake.mappings) {
    maps += fmt::format(
        "{:x}-{:x} r-xp 00000000 08:01 7 {}\n", mapping.start, mapping.end, mapping.name);
  }
  fake.process.texts["maps"] = maps;
}

/// The usual three objects are in the list; a plugin and what it needs are ready to be.
struct Case {
  explicit Case(FakeLayout layout)
      : fake(layout, objects()), follower(fake.process, layout.elf_class) {
    add_texts(fake);
    unlink();
  }

  static std::vector<FakeObject> objects() {
    auto objects = test::usual_objects();
    FakeObject plugin{"/opt/plugin.so", 0xa0000000, 0xa0000080, {"plugin.so"}, {}, 2, 1, 0, {}};
    FakeObject helper{"/opt/helper.so", 0xb0000000, 0xb0000080, {"helper.so"}, 3, 2, 0, 0, {}};
    objects.push_back(plugin);
    objects.push_back(helper);
    return objects;
  }

  void link() { fake.poke(fake.record(2) + 3 * fake.word(), fake.record(3)); }

  void unlink() { fake.poke(fake.record(2) + 3 * fake.word(), 0); }

  auto look() { return follower.look(fake.debug(0)); }

  FakeLoader fake;
  LinkMapFollower follower;
};

FakeLayout layout_of(ElfClass elf_class) {
  FakeLayout layout;
  layout.elf_class = elf_class;
  return layout;
}

}  // namespace

TEST_CASE("link map follower: first everything, then what has changed", "[loader][follower]") {
  Case made(layout_of(GENERATE(ElfClass::elf64, ElfClass::elf32)));
  auto change = made.look();
  REQUIRE(change);
  CHECK(change->gone.empty());
  REQUIRE(change->came.size() == 3);
  CHECK(change->came[0].start == Start::program);
  CHECK(change->came[1].name == "/lib/libc.so.6");
  CHECK(change->came[1].requester == change->came[0].dynamic);
  CHECK(change->came[1].start == Start::startup);

  change = made.look();
  REQUIRE(change);
  CHECK((change->came.empty() && change->gone.empty()));

  made.link();
  change = made.look();
  REQUIRE(change);
  REQUIRE(change->came.size() == 2);
  CHECK(change->came[0].name == "/opt/plugin.so");
  CHECK(change->came[0].requester == 0);
  CHECK(change->came[0].start == Start::dlopened);
  CHECK(change->came[1].name == "/opt/helper.so");
  CHECK(change->came[1].requester == 0xa0000080);
  CHECK(change->came[1].bias == 0xb0000000);

  made.unlink();
  change = made.look();
  REQUIRE(change);
  CHECK(change->came.empty());
  std::sort(change->gone.begin(), change->gone.end());
  std::vector<std::uint64_t> both = {made.fake.record(3), made.fake.record(4)};
  std::sort(both.begin(), both.end());
  CHECK(change->gone == both);
}

TEST_CASE("link map follower: a record that became another object went and came",
          "[loader][follower]") {
  Case made(layout_of(ElfClass::elf64));
  made.link();
  REQUIRE(made.look());
  made.fake.poke(made.fake.record(4) + 2 * made.fake.word(), 0xb0000090);  // l_ld
  const auto change = made.look();
  REQUIRE(change);
  CHECK(change->gone == std::vector<std::uint64_t>{made.fake.record(4)});
  REQUIRE(change->came.size() == 1);
  CHECK(change->came[0].dynamic == 0xb0000090);
}

TEST_CASE("link map follower: while the loader works nothing is told", "[loader][follower]") {
  Case made(layout_of(ElfClass::elf64));
  REQUIRE(made.look());
  made.link();
  made.fake.poke(made.fake.debug(0) + 3 * made.fake.word(), 1);  // RT_ADD
  CHECK_FALSE(made.look());
  CHECK(made.follower.problem().empty());
  made.fake.poke(made.fake.debug(0) + 3 * made.fake.word(), 0);
  const auto change = made.look();
  REQUIRE(change);
  CHECK(change->came.size() == 2);
}

TEST_CASE("link map follower: what is taken later is what was seen", "[loader][follower]") {
  using Sight = LinkMapFollower::Sight;
  FakeLayout layout;
  layout.marked = false;
  Case made(layout);
  const auto word = made.fake.word();
  const auto glance = [&](std::uint64_t state) {
    made.fake.poke(made.fake.debug(0) + 3 * word, state);
    return made.follower.glance(made.fake.debug(0));
  };
  REQUIRE(made.look());
  made.fake.poke(made.fake.record(3) + 3 * word, 0);  // the helper comes with the next dlopen
  CHECK(glance(1) == Sight::at_work);
  made.link();
  REQUIRE(glance(0) == Sight::grown);
  CHECK(made.follower.first_new() == made.fake.record(3));
  // The thread runs again and links the first object of its next dlopen before it tells of it.
  made.fake.poke(made.fake.record(3) + 3 * word, made.fake.record(4));
  auto change = made.follower.take();
  REQUIRE(change);
  REQUIRE(change->came.size() == 1);
  CHECK(change->came[0].name == "/opt/plugin.so");

  CHECK(glance(1) == Sight::at_work);
  REQUIRE(glance(0) == Sight::grown);
  change = made.follower.take();
  REQUIRE(change);
  REQUIRE(change->came.size() == 1);
  CHECK(change->came[0].name == "/opt/helper.so");

  CHECK(glance(2) == Sight::at_work);  // RT_DELETE
  made.unlink();
  REQUIRE(glance(0) == Sight::changed);
  change = made.follower.take();
  REQUIRE(change);
  CHECK(change->gone.size() == 2);
}

TEST_CASE("link map follower: what was added costs the same however long the list is",
          "[loader][follower]") {
  FakeLayout layout;
  layout.marked = false;  // as that of musl: one list only
  Case made(layout);
  const auto state = [&](std::uint64_t value) {
    made.fake.poke(made.fake.debug(0) + 3 * made.fake.word(), value);
  };
  const auto reads_of_look = [&](std::size_t came, std::size_t gone) {
    const auto before = made.fake.process.memory_reads;
    const auto change = made.look();
    REQUIRE(change);
    CHECK(change->came.size() == came);
    CHECK(change->gone.size() == gone);
    return made.fake.process.memory_reads - before;
  };
  REQUIRE(made.look());
  const auto of_all = reads_of_look(0, 0);
  state(1);  // RT_ADD
  CHECK_FALSE(made.look());
  state(0);
  CHECK(reads_of_look(0, 0) < of_all);

  state(1);
  CHECK_FALSE(made.look());
  made.link();
  state(0);
  reads_of_look(2, 0);

  // What is taken away while it adds, as by a dlopen that fails, is not overlooked.
  state(1);
  CHECK_FALSE(made.look());
  state(2);  // RT_DELETE
  CHECK_FALSE(made.look());
  made.unlink();
  state(1);
  CHECK_FALSE(made.look());
  state(0);
  reads_of_look(0, 2);

  // Nor that the last record is another one now.
  state(1);
  CHECK_FALSE(made.look());
  made.fake.poke(made.fake.record(2) + 2 * made.fake.word(), 0x1230);  // l_ld
  state(0);
  reads_of_look(1, 1);
}

TEST_CASE("link map follower: a list without an end is a problem", "[loader][follower]") {
  Case made(layout_of(ElfClass::elf64));
  REQUIRE(made.look());
  made.link();
  made.fake.poke(made.fake.record(4) + 3 * made.fake.word(), made.fake.record(1));  // a circle
  CHECK_FALSE(made.look());
  CHECK_FALSE(made.follower.problem().empty());
  made.fake.poke(made.fake.record(4) + 3 * made.fake.word(), 0x1234);  // no memory
  CHECK_FALSE(made.look());
  CHECK_FALSE(made.follower.problem().empty());
}

TEST_CASE("link map follower: a process that cannot be read gives nothing", "[loader][follower]") {
  Case made(layout_of(ElfClass::elf64));
  made.fake.process.denied.insert("memory");
  CHECK_FALSE(made.look());
  made.fake.process.denied.clear();
  made.fake.process.texts.erase("auxv");
  CHECK_FALSE(made.look());
}
