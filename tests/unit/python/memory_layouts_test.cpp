#include "python/layouts.hpp"
#include "support/catch.hpp"

#include <cstring>
#include <vector>

using namespace tracso::python;

namespace {

std::vector<std::uint64_t> described(std::uint64_t version, bool free_threaded) {
  std::vector<std::uint64_t> words(debug_offsets_words, 64);
  std::memcpy(words.data(), "xdebugpy", 8);
  words[1] = version;
  words[2] = free_threaded ? 1 : 0;
  words[5] = 1000;  // interpreters_head
  words[8] = 2000;  // next
  return words;
}

}  // namespace

TEST_CASE("layouts: the rows are ordered and none is there twice", "[python]") {
  const auto rows = layouts();
  REQUIRE(rows.size() >= 11);
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const bool later =
        rows[i].minor > rows[i - 1].minor ||
        (rows[i].minor == rows[i - 1].minor && rows[i].free_threaded && !rows[i - 1].free_threaded);
    CHECK(later);
  }
  CHECK(find_layout(11, false) != nullptr);
  CHECK(find_layout(11, true) == nullptr);
  CHECK(find_layout(7, false) == nullptr);
}

TEST_CASE("layouts: a version without a row is described by its first words", "[python]") {
  const auto layout = layout_from_debug_offsets(described(0x031000f0, false));
  REQUIRE(layout);
  CHECK(layout->minor == 16);
  CHECK(layout->interpreter.head == 1000);
  CHECK(layout->interpreter.next == 2000);
  CHECK(layout->interpreter.modules == 64);
  const auto* newest = find_layout(layouts().back().minor, false);
  CHECK(layout->object.ascii == newest->object.ascii);
  CHECK(layout->frame.previous == newest->frame.previous);
}

TEST_CASE("layouts: absurd descriptions are refused", "[python]") {
  auto words = described(0x030e00f0, true);
  words[400 / 8] = 32;  // sizeof(PyObject) of a 3.14
  CHECK(layout_from_debug_offsets(words));
  SECTION("no cookie") {
    words[0] = 0;
  }
  SECTION("Python 4") {
    words[1] = 0x040000f0;
  }
  SECTION("older than the structure") {
    words[1] = 0x030c00f0;
  }
  SECTION("an offset of gigabytes") {
    words[5] = std::uint64_t{1} << 31;
  }
  SECTION("objects of another size") {
    words[400 / 8] = 24;
  }
  SECTION("cut") {
    words.resize(60);
  }
  CHECK_FALSE(layout_from_debug_offsets(words));
}
