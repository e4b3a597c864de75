#include "loader/link_map_follower.hpp"

#include "support/build_elf.hpp"
#include "support/catch.hpp"
#include "support/fake_loader.hpp"

#include <fmt/format.h>

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

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

TEST_CASE("link map follower: where the loader counts its objects a glance is one read",
          "[loader][follower]") {
  using Sight = LinkMapFollower::Sight;
  constexpr std::uint64_t base = 0xf7f00000, variable = 0x2000;
  FakeLayout layout;
  layout.loader_base = base;
  Case made(layout);
  auto& fake = made.fake;
  fake.poke(fake.debug(0) + 2 * 8, base + 0x1230);  // r_brk
  test::ElfSpec spec;
  spec.load_address = 0;
  test::ElfSymbol global;
  global.name = "_rtld_global";
  global.value = variable;
  global.size = 0x400;
  spec.symbols = {global};
  std::string image = test::build_elf(spec);
  image.resize(0x3000);
  fake.process.memory[base] = image;
  const auto count = [&](std::uint64_t objects) {
    const std::uint64_t words[] = {fake.record(0), objects};
    std::memcpy(fake.process.memory[base].data() + variable, words, sizeof words);
  };
  const auto next_of = [&](std::size_t object, std::uint64_t record) {
    fake.poke(fake.record(object) + 3 * 8, record);
  };
  const auto glance = [&](std::uint64_t state) {
    fake.poke(fake.debug(0) + 3 * 8, state);
    return made.follower.glance(fake.debug(0));
  };
  const auto came = [&] {
    const auto change = made.follower.take();
    REQUIRE(change);
    std::vector<std::string> names;
    for (const auto& object : change->came) {
      names.push_back(object.name);
    }
    return names;
  };
  const std::vector<std::string> plugin = {"/opt/plugin.so"}, helper = {"/opt/helper.so"};
  const bool is_right = GENERATE(true, false);  // or another loader's number of something else
  next_of(3, 0);
  count(is_right ? 3 : 9);
  REQUIRE(made.look());
  CHECK(glance(1) == Sight::at_work);
  REQUIRE(glance(0) == Sight::grown);  // nothing came; from now on the count is known to be right
  CHECK(came().empty());

  CHECK(glance(1) == Sight::at_work);
  made.link();
  count(is_right ? 4 : 10);
  const auto reads = fake.process.memory_reads;
  REQUIRE(glance(0) == Sight::grown);
  // Pieces of one read: state, last record, count. Then the new record.
  CHECK(fake.process.memory_reads == reads + (is_right ? 3 : 5));
  CHECK(made.follower.first_new() == fake.record(3));
  SECTION("what is linked later is not taken for it") {
    next_of(3, fake.record(4));
    count(5);
    CHECK(came() == plugin);
    CHECK(glance(1) == Sight::at_work);
    REQUIRE(glance(0) == Sight::grown);
    CHECK(came() == helper);
  }
  SECTION("a count that is wrong is not believed again") {
    CHECK(came() == plugin);
    for (const std::uint64_t wrong : {3U, 4U, 6U, 0xffffffffU}) {
      CHECK(glance(1) == Sight::at_work);
      next_of(3, fake.record(4));
      count(wrong);
      if (glance(0) != Sight::at_work) {
        const auto names = came();
        CHECK((names == helper || names.empty()));
      }
    }
    next_of(3, 0);
    CHECK(glance(2) == Sight::at_work);
    REQUIRE(glance(0) == Sight::changed);
  }
  SECTION("a count that lags behind the list is not believed") {
    CHECK(came() == plugin);
    CHECK(glance(1) == Sight::at_work);
    next_of(3, fake.record(4));
    count(is_right ? 4 : 10);
    REQUIRE(glance(0) == Sight::grown);
    CHECK(came() == helper);
  }
  SECTION("another namespace that the first one does not lead to") {
    CHECK(came() == plugin);
    CHECK(glance(1) == Sight::at_work);
    const std::uint64_t other[] = {1, fake.record(4), base + 0x1230, 0, base};
    std::memcpy(fake.process.memory[base].data() + variable + 0x80, other, sizeof other);
    CHECK(glance(0) == Sight::changed);
  }
  SECTION("a list that ends too early is walked as a whole") {
    count(5);
    REQUIRE(glance(0) == Sight::grown);
    CHECK(came() == plugin);
  }
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

TEST_CASE("link map follower: nor what is added to a list need have an end", "[loader][follower]") {
  FakeLayout layout;
  layout.marked = false;
  Case made(layout);
  const auto word = made.fake.word();
  REQUIRE(made.look());
  made.fake.poke(made.fake.debug(0) + 3 * word, 1);  // RT_ADD
  CHECK_FALSE(made.look());
  made.link();
  made.fake.poke(made.fake.record(4) + 3 * word, made.fake.record(3));  // a circle
  made.fake.poke(made.fake.debug(0) + 3 * word, 0);
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
