// Hidden: run by tests/nightly/other_glibc.sh, which gives a command, one word per line, that
// reports on itself as the reporter of c_programs does.

#include "base/text.hpp"
#include "support/c_programs.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

TEST_CASE("link map: another glibc", "[.][other-glibc]") {
  using namespace tracso;
  const char* setting = std::getenv("TRACSO_OTHER_GLIBC");
  REQUIRE(setting != nullptr);
  std::vector<std::string> command;
  for (const auto word : split_words(setting, "\n")) {
    command.emplace_back(word);
  }
  const test::Reporter reporter(command);
  REQUIRE(reporter.ready);
  const auto view = test::look_at(reporter.child.pid());
  REQUIRE(view.maps);
  CHECK(view.maps->consistent);
  CHECK(view.maps->private_reason == "");
  CHECK(view.maps->private_fields);
  // dlinfo knows no address of ld.so's stand-in before 2.35.
  auto rows = view.rows();
  auto expected = reporter.rows;
  REQUIRE(rows.size() == expected.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (view.maps->entries[i].proxy && expected[i].dynamic == 0) {
      rows[i].bias = rows[i].dynamic = 0;
    }
    INFO(expected[i].name);
    CHECK(rows[i] == expected[i]);
  }
  std::size_t spaces = 0;
  for (const auto& entry : view.maps->entries) {
    spaces = std::max(spaces, entry.space + 1);
    INFO(entry.name);
    CHECK(entry.start != loader::LinkMapEntry::Start::unknown);
    CHECK(entry.mapping);
  }
  for (const auto& match : view.matches) {
    INFO(view.maps->entries[match.requester].name
         << " needs " << view.sections[match.requester]->needed[match.needed].name);
    CHECK(match.target);
    CHECK(match.reason == loader::NeededMatch::Reason::name);
  }
  std::printf("objects: %zu, namespaces: %zu, needed names: %zu, via %s\n",
              view.maps->entries.size(),
              spaces,
              view.matches.size(),
              view.maps->via.c_str());
}
