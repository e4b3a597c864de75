#include "compare/attribution_change.hpp"

#include "support/catch.hpp"

using namespace tracso;

namespace {

AttributionLook look(std::int64_t at, std::uint64_t heap, std::uint64_t python) {
  AttributionLook look;
  look.at_ns = at;
  look.memory[MemoryClass::heap].resident = heap;
  look.memory[MemoryClass::python].resident = python;
  look.memory[MemoryClass::other].resident = 7;
  look.memory[MemoryClass::stacks].resident = 3;
  look.memory[MemoryClass::libraries].resident = 100;
  look.python_blocks = python / 2;
  return look;
}

TEST_CASE("attribution: the parts sum to what is resident, and what grew most stands first",
          "[compare][attribution]") {
  AttributionLook first = look(10, 50, 20), last = look(90, 80, 60);
  first.objects = TrackedObjects{"3.11.2", 12, 900, {{"gone", 2, 100}, {"list", 10, 800}}};
  last.objects = TrackedObjects{"3.11.2", 45, 2300, {{"list", 15, 1200}, {"new", 30, 1100}}};
  const Attribution told = compare_looks(first, last);
  CHECK(told.first_ns == 10);
  CHECK(told.last_ns == 90);
  CHECK(told.parts.resident.before == 180);
  CHECK(told.parts.resident.after == 250);
  CHECK(told.parts.python.after + told.parts.heap.after + told.parts.other_anonymous.after +
            told.parts.rest.after ==
        told.parts.resident.after);
  CHECK(told.parts.rest.after == 103);
  REQUIRE(told.parts.python_blocks);
  CHECK(told.parts.python_blocks->before == 10);
  CHECK(told.parts.python_blocks->after == 30);
  REQUIRE(told.types.size() == 3);
  CHECK(told.types[0].type == "new");
  CHECK(told.types[0].objects.before == 0);
  CHECK(told.types[1].type == "list");
  CHECK(told.types[2].type == "gone");
  CHECK(told.types[2].objects.after == 0);
  CHECK_FALSE(told.lines_known);
}

TEST_CASE("attribution: with one look nothing has grown, and the largest stands first",
          "[compare][attribution]") {
  AttributionLook last = look(90, 80, 60);
  last.objects = TrackedObjects{"3.8.18", 3, 30, {{"a", 1, 10}, {"b", 2, 20}}};
  last.objects->youngest_moved = true;
  last.lines = TracedLines{{{"x.py", 3, 1, 5}, {"y.py", 4, 1, 9}}, false};
  const Attribution told = compare_looks(std::nullopt, last);
  CHECK_FALSE(told.first_ns);
  CHECK_FALSE(told.parts.heap.before);
  REQUIRE(told.types.size() == 2);
  CHECK(told.types[0].type == "b");
  CHECK_FALSE(told.types[0].objects.before);
  REQUIRE(told.lines.size() == 2);
  CHECK(told.lines[0].file == "y.py");
  CHECK(told.not_told.size() == 1);  // that the youngest moved
}

}  // namespace
