// Link maps of a Python that has loaded much: the names ld.so keeps answer every DT_NEEDED.

#include "os/live_process.hpp"
#include "proc/maps.hpp"
#include "support/c_programs.hpp"
#include "support/catch.hpp"
#include "support/flipping_process.hpp"

#include <csignal>
#include <set>

TEST_CASE("link map: every need of a Python with numpy is answered by name", "[live][linkmap]") {
  using tracso::loader::LinkMapEntry;
  using tracso::loader::NeededMatch;
  tracso::test::Child child(
      {"/usr/bin/python3",
       "-c",
       "import numpy, ssl, sqlite3, ctypes, lzma, bz2, sys; print('READY', flush=True); "
       "sys.stdin.read()"});
  INFO("needed for this test: python3 and python3-numpy of the distribution");
  REQUIRE(child.line() == "READY");
  const auto view = tracso::test::look_at(child.pid());
  REQUIRE(view.maps);
  REQUIRE(view.maps->private_fields);
  CHECK(view.maps->consistent);
  CHECK(view.maps->entries.size() > 25);
  CHECK(view.matches.size() > view.maps->entries.size());
  for (const auto& match : view.matches) {
    INFO(view.maps->entries[match.requester].name
         << " needs " << view.sections[match.requester]->needed[match.needed].name);
    CHECK(match.target);
    CHECK(match.reason == NeededMatch::Reason::name);
  }
  std::set<std::size_t> mapped;
  std::size_t dlopened_roots = 0;
  for (const auto& entry : view.maps->entries) {
    INFO(entry.name);
    REQUIRE(entry.mapping);
    CHECK(mapped.insert(*entry.mapping).second);
    // Whatever came by dlopen was named to it, or an object that came by dlopen needed it.
    if (entry.start == LinkMapEntry::Start::dlopened) {
      CHECK((entry.direct_opens > 0 || entry.requester));
      dlopened_roots += entry.direct_opens > 0 ? 1 : 0;
    }
  }
  CHECK(dlopened_roots > 10);
}

TEST_CASE("link map: flipped bits of a real process harm nobody", "[live][linkmap][hostile]") {
  using tracso::test::FlippingProcess;
  tracso::test::Child child({"/usr/bin/python3",
                             "-c",
                             "import ssl, sqlite3, sys; print('READY', flush=True); "
                             "sys.stdin.read()"});
  REQUIRE(child.line() == "READY");
  const auto real = tracso::os::LiveProcess::open(child.pid());
  REQUIRE(real);
  const auto mappings = tracso::proc::parse_maps(*(*real)->read("maps"));
  const auto auxv = tracso::proc::parse_auxv(*(*real)->read("auxv"));
  REQUIRE(mappings);
  REQUIRE(auxv);
  int answers = 0;
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    const auto damage =
        seed % 2 == 0 ? FlippingProcess::Damage::lasting : FlippingProcess::Damage::changing;
    const std::uint64_t one_in = std::uint64_t{100} << (seed % 10);
    const FlippingProcess process(**real, seed, one_in, damage);
    const auto maps = tracso::loader::read_link_maps(process, *mappings, *auxv, 2);
    if (!maps) {
      CHECK(maps.error().reason != "");
      continue;
    }
    ++answers;
    const auto sections = tracso::loader::read_dynamic_sections(process, *maps);
    for (const auto& match : tracso::loader::match_needed(*maps, sections, "/usr/bin/python3")) {
      REQUIRE((!match.target || *match.target < maps->entries.size()));
    }
  }
  CHECK(answers > 0);
  CHECK(::kill(child.pid(), 0) == 0);
}
