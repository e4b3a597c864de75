// Memory that lies: whatever bits are wrong, there is an answer or an error, and soon.

#include "loader/link_map.hpp"
#include "support/catch.hpp"
#include "support/fake_loader.hpp"
#include "support/flipping_process.hpp"

#include <cstring>

namespace {

using namespace tracso;
using test::FlippingProcess;

/// What must hold of any answer.
void check_sane(const loader::LinkMaps& maps, std::size_t mappings) {
  REQUIRE_FALSE(maps.entries.empty());
  REQUIRE(maps.entries.size() <= 16384);
  CHECK(maps.private_fields == maps.private_reason.empty());
  CHECK(maps.consistent == maps.inconsistency.empty());
  for (const auto& entry : maps.entries) {
    const bool indices_inside = (!entry.mapping || *entry.mapping < mappings) &&
                                (!entry.requester || *entry.requester < maps.entries.size());
    REQUIRE(indices_inside);
    REQUIRE((maps.private_fields || (entry.requested.empty() && entry.direct_opens == 0)));
  }
}

std::vector<test::FakeObject> many_objects() {
  auto objects = test::usual_objects();
  for (std::size_t i = 0; i < 12; ++i) {
    test::FakeObject object;
    object.name = "/opt/some/where/libplugin" + std::to_string(i) + ".so";
    object.bias = 0xf0000000 + i * 0x100000;
    object.dynamic = object.bias + 0x80;
    object.requested = {object.name, "libplugin" + std::to_string(i) + ".so"};
    object.requester = i;
    object.type = 2;
    object.space = i < 8 ? 0 : 1;
    objects.push_back(object);
  }
  return objects;
}

}  // namespace

TEST_CASE("link map: flipped bits give an answer or an error", "[loader][linkmap][hostile]") {
  test::FakeLayout layout;
  layout.elf_class = GENERATE(ElfClass::elf64, ElfClass::elf32);
  layout.loader_base = 0xf7f00000;
  const auto damage = GENERATE(FlippingProcess::Damage::lasting, FlippingProcess::Damage::changing);
  const std::uint64_t one_in = GENERATE(50U, 500U, 5000U);
  const test::FakeLoader fake(layout, many_objects());
  std::size_t answers = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    CAPTURE(seed, one_in, static_cast<int>(damage));
    const FlippingProcess process(fake.process, seed, one_in, damage);
    const auto maps = loader::read_link_maps(process, fake.mappings, fake.auxv, 1);
    if (!maps) {
      CHECK(maps.error().reason != "");
      continue;
    }
    ++answers;
    check_sane(*maps, fake.mappings.size());
    const auto sections = loader::read_dynamic_sections(process, *maps);
    for (const auto& match : loader::match_needed(*maps, sections, "/usr/bin/app")) {
      REQUIRE(match.requester < maps->entries.size());
      REQUIRE((!match.target || *match.target < maps->entries.size()));
    }
  }
  CHECK(answers > 0);
}

TEST_CASE("link map: endless lists end", "[loader][linkmap][hostile]") {
  // Every word is the address of the next one: each list leads on and on.
  test::FakeLayout layout;
  test::FakeLoader fake(layout, test::usual_objects());
  const std::uint64_t start = 0x60000000;
  std::string slope(std::size_t{4} << 20U, '\0');
  for (std::size_t at = 0; at + 8 <= slope.size(); at += 8) {
    const std::uint64_t next = start + at + 8;
    std::memcpy(slope.data() + at, &next, 8);
  }
  fake.process.memory[start] = slope;
  SECTION("of objects") {
    fake.poke(fake.debug(0) + 8, start);
    const auto maps = loader::read_link_maps(fake.process, fake.mappings, fake.auxv, 1);
    REQUIRE(maps);
    CHECK(maps->inconsistency == "the list of objects has no end");
    CHECK(maps->entries.size() == 16384);
  }
  SECTION("of namespaces") {
    fake.poke(fake.debug(0), 2);
    fake.poke(fake.debug(0) + 5 * 8, start);
    const auto maps = loader::read_link_maps(fake.process, fake.mappings, fake.auxv, 1);
    REQUIRE(maps);
    CHECK_FALSE(maps->consistent);
  }
  SECTION("of names") {
    fake.poke(fake.record(1) + 7 * 8, start);
    const auto maps = loader::read_link_maps(fake.process, fake.mappings, fake.auxv, 1);
    REQUIRE(maps);
    CHECK(maps->private_reason == "object 1: its list of names is damaged");
  }
  SECTION("a name without end") {
    fake.process.memory[0x70000000] = std::string(std::size_t{1} << 20U, 'x');
    fake.poke(fake.record(1) + 8, 0x70000000);
    const auto maps = loader::read_link_maps(fake.process, fake.mappings, fake.auxv, 1);
    REQUIRE(maps);
    CHECK(maps->inconsistency == "the name of object 1 is unreadable");
    CHECK(maps->entries[1].name == "");
  }
}
