#include "proc/maps.hpp"

#include "support/catch.hpp"

#include <sys/sysmacros.h>

namespace tracso::proc {
namespace {

const std::string program =
    "55d0c8a00000-55d0c8a28000 r-xp 00002000 08:01 1311 /usr/bin/python3.11";

TEST_CASE("maps: one line gives range, permissions, offset, device, inode and name",
          "[proc][maps]") {
  const auto mapping = parse_maps_line(program);
  REQUIRE(mapping);
  CHECK(mapping->start == 0x55d0c8a00000);
  CHECK(mapping->end == 0x55d0c8a28000);
  CHECK(mapping->readable);
  CHECK_FALSE(mapping->writable);
  CHECK(mapping->executable);
  CHECK_FALSE(mapping->shared);
  CHECK(mapping->offset == 0x2000);
  CHECK(mapping->device == makedev(8, 1));
  CHECK(mapping->inode == 1311);
  CHECK(mapping->name == "/usr/bin/python3.11");
  CHECK_FALSE(mapping->deleted);
}

TEST_CASE("maps: a deleted file keeps its path and is marked", "[proc][maps]") {
  const auto mapping = parse_maps_line(
      "7f00-7f01 r--p 00000000 00:1c 99                         /tmp/libx.so (deleted)");
  REQUIRE(mapping);
  CHECK(mapping->name == "/tmp/libx.so");
  CHECK(mapping->deleted);
}

TEST_CASE("maps: a name may hold spaces, a newline and bytes that are not UTF-8", "[proc][maps]") {
  const auto mapping =
      parse_maps_line("7f00-7f01 r--s 00000000 fe:00 7 /tmp/a  b\\012c \xff(deleted)");
  REQUIRE(mapping);
  CHECK(mapping->name == "/tmp/a  b\nc \xff(deleted)");
  CHECK_FALSE(mapping->deleted);
  CHECK(mapping->shared);
}

TEST_CASE("maps: memory without a file is never 'deleted'", "[proc][maps]") {
  const auto heap = parse_maps_line(
      "55d0c9000000-55d0c9100000 rw-p 00000000 00:00 0                          [heap]");
  REQUIRE(heap);
  CHECK(heap->name == "[heap]");
  CHECK_FALSE(heap->has_file());
  const auto anonymous = parse_maps_line("7f00-7f01 rw-p 00000000 00:00 0 ");
  REQUIRE(anonymous);
  CHECK(anonymous->name.empty());
}

TEST_CASE("maps: addresses of the last page and vsyscall fit", "[proc][maps]") {
  const auto mapping = parse_maps_line(
      "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]");
  REQUIRE(mapping);
  CHECK(mapping->end == 0xffffffffff601000);
}

TEST_CASE("maps: a text without a final newline loses no line, an empty one has none",
          "[proc][maps]") {
  const auto mappings = parse_maps(program + "\n" + program);
  REQUIRE(mappings);
  CHECK(mappings->size() == 2);
  CHECK(parse_maps("")->empty());
}

TEST_CASE("maps: what is not a line is named with its number", "[proc][maps]") {
  const auto mappings = parse_maps(program + "\nnonsense\n");
  REQUIRE_FALSE(mappings);
  CHECK(mappings.error().kind == ErrorKind::malformed);
  CHECK(mappings.error().reason.find("line 2") != std::string::npos);
  for (const char* line : {"",
                           "-",
                           "12",
                           "12-34",
                           "34-12 r--p 0 0:0 0",
                           "12-34 r--q 0 0:0 0",
                           "12-34 r--p",
                           "12-34 r--p 0 0:0",
                           "12-34 r--p 0 0:0 x",
                           "zz-34 r--p 0 0:0 0",
                           "11111111111111111-2 r--p 0 0:0 0"}) {
    CAPTURE(line);
    CHECK_FALSE(parse_maps_line(line));
  }
}

TEST_CASE("maps: 100,000 lines are read", "[proc][maps]") {
  std::string text;
  for (int i = 0; i < 100'000; ++i) {
    text += program + "\n";
  }
  const auto mappings = parse_maps(text);
  REQUIRE(mappings);
  CHECK(mappings->size() == 100'000);
}

}  // namespace
}  // namespace tracso::proc
