#include "render/text/columns.hpp"

#include "base/text.hpp"
#include "support/catch.hpp"

#include <cmath>
#include <limits>

namespace tracso {
namespace {

Row row(const char* name, const char* rest) {
  Row made{name, {}};
  made.rest.add(rest);
  return made;
}

}  // namespace

TEST_CASE("columns: a bar has 16 cells, whatever part it is asked for", "[render][text]") {
  CHECK(bar(0.912, false) == "###############.");
  CHECK(bar(0.054, false) == "#...............");
  CHECK(bar(0, false) == "................");
  CHECK(bar(7, false) == "################");
  CHECK(bar(-1, false) == "................");
  CHECK(bar(std::numeric_limits<double>::quiet_NaN(), false) == "................");
  CHECK(bar(0.5, true) == "████████░░░░░░░░");
}

TEST_CASE("columns: padding counts what a terminal shows", "[render][text]") {
  CHECK(pad_right("漢字", 6) == "漢字  ");
  CHECK(pad_left("é", 3) == "  é");
  CHECK(pad_right("longer", 3) == "longer");
}

TEST_CASE("columns: cutting keeps both ends and never splits a character", "[render][text]") {
  CHECK(cut_middle("libscipy_openblas64_-017048f4.so", 15, true) == "libscip…48f4.so");
  CHECK(cut_middle("short", 15, true) == "short");
  CHECK(cut_middle("abcdefghij", 9, false) == "abc...hij");
  const std::string wide = cut_middle("漢漢漢漢漢漢漢漢", 8, true);
  CHECK(display_width(wide) <= 8);
  CHECK(is_utf8(wide));
  CHECK(display_width(cut_middle("abcdefghij", 0, true)) == 5);
}

TEST_CASE("columns: piped, a long name pushes only its own line", "[render][text]") {
  const std::string text = table({row("a-name-longer-than-its-column", " 1"), row("b", " 2")}, {8});
  CHECK(text == "  a-name-longer-than-its-column 1\n  b        2\n");
}

TEST_CASE("columns: on a terminal every line fits", "[render][text]") {
  TableLook look{40, 30, false, true};
  const std::string text =
      table({row("a-name-very-much-longer-than-the-terminal", " 12 KB"), row("b", " 2 KB")}, look);
  for (const auto line : split(text, '\n')) {
    CHECK(display_width(line) <= 30);
  }
  CHECK(text.find("12 KB") != std::string::npos);
}

TEST_CASE("columns: colour adds escapes and moves nothing", "[render][text]") {
  Row painted{"name", {}, Style::red};
  painted.rest.add(" x", Style::cyan);
  CHECK(table({painted}, {8}) == "  name     x\n");
  CHECK(table({painted}, {8, 0, true, true}) == "  \x1b[31mname\x1b[0m    \x1b[36m x\x1b[0m\n");
}

}  // namespace tracso
