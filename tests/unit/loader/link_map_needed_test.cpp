#include "loader/link_map.hpp"
#include "support/catch.hpp"

namespace {

using namespace tracso;
using loader::LinkMapEntry;
using loader::LinkMaps;
using loader::match_needed;
using loader::NeededMatch;
using Reason = NeededMatch::Reason;
using Sections = std::vector<std::optional<DynamicSection>>;

LinkMapEntry entry(std::string name, std::vector<std::string> requested, std::size_t space = 0) {
  LinkMapEntry made;
  made.name = std::move(name);
  made.requested = std::move(requested);
  made.space = space;
  return made;
}

DynamicSection section(std::vector<std::string> needed, std::optional<std::string> soname = {}) {
  DynamicSection made;
  made.present = true;
  made.soname = std::move(soname);
  for (auto& name : needed) {
    made.needed.push_back({NeededEntry::Kind::needed, std::move(name)});
  }
  return made;
}

LinkMaps maps_of(std::vector<LinkMapEntry> entries) {
  LinkMaps maps;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    entries[i].position =
        i > 0 && entries[i - 1].space == entries[i].space ? entries[i - 1].position + 1 : 0;
  }
  maps.entries = std::move(entries);
  maps.private_fields = true;
  return maps;
}

}  // namespace

TEST_CASE("needed: a name an object was asked for by is its name", "[loader][needed]") {
  const auto maps = maps_of({entry("", {""}),
                             entry("/opt/liba.so.1.2", {"liba.so.1"}),
                             entry("/opt/libb.so", {"libb.so", "/opt/libb.so"})});
  const Sections sections = {
      section({"libb.so", "liba.so.1", "libc.so"}), section({"/opt/libb.so"}), std::nullopt};
  const auto matches = match_needed(maps, sections, "/usr/bin/app");
  CHECK(matches == std::vector<NeededMatch>{{0, 0, 2, Reason::name},
                                            {0, 1, 1, Reason::name},
                                            {0, 2, std::nullopt, Reason::none},
                                            {1, 0, 2, Reason::name}});
}

TEST_CASE("needed: the first of two objects of one name answers", "[loader][needed]") {
  const auto maps = maps_of({entry("", {""}),
                             entry("/a/libx.so", {"/a/libx.so", "libx.so"}),
                             entry("/b/libx.so", {"/b/libx.so", "libx.so"})});
  const auto matches = match_needed(maps, Sections{section({"libx.so"})}, "");
  CHECK(matches.at(0).target == 1U);
}

TEST_CASE("needed: a SONAME counts after all names", "[loader][needed]") {
  const auto maps = maps_of(
      {entry("", {""}), entry("/a/one.so", {"/a/one.so"}), entry("/b/two.so", {"libx.so"})});
  Sections sections = {
      section({"libx.so", "liby.so"}), section({}, "libx.so"), section({}, "liby.so")};
  const auto matches = match_needed(maps, sections, "");
  CHECK(matches.at(0) == NeededMatch{0, 0, 2, Reason::name});
  CHECK(matches.at(1) == NeededMatch{0, 1, 2, Reason::soname});
}

TEST_CASE("needed: namespaces do not mix, but share ld.so", "[loader][needed]") {
  auto maps = maps_of({entry("", {""}),
                       entry("/lib/libc.so.6", {"libc.so.6"}),
                       entry("/lib/ld.so", {"ld-linux.so.2"}),
                       entry("/opt/p.so", {"/opt/p.so"}, 1),
                       entry("/lib/libc.so.6", {"libc.so.6"}, 1)});
  maps.loader = 2;
  const Sections sections = {section({"libc.so.6"}),
                             section({}),
                             section({}),
                             section({"libc.so.6", "ld-linux.so.2", "/lib/ld.so"}),
                             section({})};
  const auto matches = match_needed(maps, sections, "");
  CHECK(matches == std::vector<NeededMatch>{{0, 0, 1, Reason::name},
                                            {3, 0, 4, Reason::name},
                                            {3, 1, 2, Reason::name},
                                            {3, 2, 2, Reason::path}});
}

TEST_CASE("needed: tokens are expanded with the requester's origin", "[loader][needed]") {
  const auto maps =
      maps_of({entry("", {""}),
               entry("/opt/bin/../lib/libp.so", {"/opt/bin/../lib/libp.so"}),
               entry("/opt/x/libq.so", {"/opt/x/libq.so"}),
               entry("/usr/lib/x86_64-linux-gnu/libr.so", {"/usr/lib/x86_64-linux-gnu/libr.so"}),
               entry("./rel/libs.so", {"./rel/libs.so"}),
               entry("/somewhere/rel/libt.so", {"/somewhere/rel/libt.so"})});
  const Sections sections = {section({"$ORIGIN/../lib/libp.so",
                                      "${ORIGIN}/libp.so",
                                      "/usr/$LIB/libr.so",
                                      "/usr/${LIB}/libp.so",
                                      "$ORIGINAL/libq.so"}),
                             std::nullopt,
                             section({"$ORIGIN/libq.so"}),
                             std::nullopt,
                             section({"$ORIGIN/libt.so"})};
  const auto matches = match_needed(maps, sections, "/opt/bin/python3");
  REQUIRE(matches.size() == 7);
  CHECK(matches[0] == NeededMatch{0, 0, 1, Reason::name});
  CHECK_FALSE(matches[1].target);
  CHECK(matches[2].target == 3U);
  CHECK_FALSE(matches[3].target);
  CHECK_FALSE(matches[4].target);
  CHECK(matches[5] == NeededMatch{2, 0, 2, Reason::name});
  // Where the working directory was is not known: anything that ends so.
  CHECK(matches[6].target == 5U);
}

TEST_CASE("needed: without private fields file names and SONAMEs must do", "[loader][needed]") {
  auto maps = maps_of({entry("/bin/app", {}),
                       entry("/lib/ld-musl-x86_64.so.1", {}),
                       entry("/opt/libm1.so", {}),
                       entry("", {})});
  maps.private_fields = false;
  const Sections sections = {section({"libm1.so", "libc.so", "/opt/libm1.so"}),
                             section({}, "libc.so"),
                             section({}),
                             section({}, "linux-vdso.so.1")};
  const auto matches = match_needed(maps, sections, "/bin/app");
  CHECK(matches == std::vector<NeededMatch>{{0, 0, 2, Reason::path},
                                            {0, 1, 1, Reason::soname},
                                            {0, 2, 2, Reason::path}});
}

TEST_CASE("needed: the reserved names of musl are its loader", "[loader][needed]") {
  auto maps = maps_of({entry("/bin/app", {}), entry("/lib/ld-musl-x86_64.so.1", {})});
  maps.private_fields = false;
  maps.loader = 1;
  const Sections sections = {section({"libc.so", "libpthread.so.0", "libcrypto.so", "libc-2.so"}),
                             section({})};
  const auto matches = match_needed(maps, sections, "/bin/app");
  CHECK(matches.at(0).target == 1U);
  CHECK(matches.at(1).target == 1U);
  CHECK_FALSE(matches.at(2).target);
  CHECK_FALSE(matches.at(3).target);
  maps.private_fields = true;
  CHECK_FALSE(match_needed(maps, sections, "/bin/app").at(0).target);
}

TEST_CASE("needed: fewer sections than entries is no crash", "[loader][needed]") {
  const auto maps = maps_of({entry("", {""}), entry("/a.so", {"a.so"})});
  CHECK(match_needed(maps, {}, "").empty());
  CHECK(match_needed(LinkMaps{}, Sections(3), "").empty());
}
