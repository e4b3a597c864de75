#include "proc/smaps.hpp"

#include "support/catch.hpp"

using namespace tracso;
using namespace tracso::proc;

namespace {

constexpr std::string_view two =
    R"(7f0000000000-7f0000004000 r-xp 00001000 08:01 42         /lib/libz.so.1
Size:                 16 kB
KernelPageSize:        4 kB
Rss:                  12 kB
Pss:                   3 kB
Shared_Clean:          8 kB
Private_Clean:         0 kB
Private_Dirty:         4 kB
Anonymous:             4 kB
Swap:                  8 kB
Private_Hugetlb:       0 kB
VmFlags: rd ex mr mw me
7f0000004000-7f0000006000 rw-p 00000000 00:00 0
Rss:                   8 kB
Private_Dirty:         8 kB
Shared_Hugetlb:     2048 kB
)";

}  // namespace

TEST_CASE("smaps: each mapping with its bytes", "[proc][smaps]") {
  const auto costs = parse_smaps(two);
  REQUIRE(costs);
  REQUIRE(costs->size() == 2);
  const MappingCost& code = (*costs)[0];
  CHECK(code.mapping.name == "/lib/libz.so.1");
  CHECK(code.mapping.inode == 42);
  CHECK(code.resident == 12 * 1024);
  CHECK(code.private_bytes() == 4 * 1024);
  CHECK(code.anonymous == 4 * 1024);
  CHECK(code.swapped == 8 * 1024);
  CHECK((*costs)[1].huge == 2048 * 1024);
  CHECK((*costs)[1].mapping.name.empty());
}

TEST_CASE("smaps: a file whose name looks like a key is a file", "[proc][smaps]") {
  const auto costs = parse_smaps(
      "7f0000000000-7f0000004000 r--p 00000000 08:01 42   /tmp/Rss: 999 kB\nRss: 4 kB\n");
  REQUIRE(costs);
  REQUIRE(costs->size() == 1);
  CHECK((*costs)[0].mapping.name == "/tmp/Rss: 999 kB");
  CHECK((*costs)[0].resident == 4096);
}

TEST_CASE("smaps: absurd numbers stop at the largest", "[proc][smaps]") {
  const auto costs = parse_smaps(
      "1000-2000 rw-p 00000000 00:00 0\nRss: 99999999999999999999 kB\n"
      "Private_Dirty: 18446744073709551615 kB\nSwap: x kB\nSwap:\n");
  REQUIRE(costs);
  CHECK((*costs)[0].dirty == UINT64_MAX);
  CHECK((*costs)[0].swapped == 0);
}

TEST_CASE("smaps: what is no smaps is refused", "[proc][smaps]") {
  CHECK_FALSE(parse_smaps("Rss: 4 kB\n"));
  CHECK_FALSE(parse_smaps("1000-2000 rw-p 00000000 00:00 0\nhello\n"));
  CHECK(parse_smaps("")->empty());
  CHECK(parse_smaps("1000-2000 rw-p 00000000 00:00 0\nRss: 4 kB")->front().resident == 4096);
}

TEST_CASE("smaps: whether a mapping is locked", "[proc][smaps]") {
  const std::string text =
      "1000-3000 rw-p 00000000 00:00 0\nLocked: 8 kB\nVmFlags: rd wr mr lo ac\n"
      "3000-4000 rw-p 00000000 00:00 0\nVmFlags: rd wr mr ac\n"
      "5000-6000 rw-p 00000000 00:00 0\nRss: 4 kB\n";
  CHECK(tracso::proc::is_locked(text, 0x1000) == true);
  CHECK(tracso::proc::is_locked(text, 0x2fff) == true);
  CHECK(tracso::proc::is_locked(text, 0x3000) == false);
  CHECK(tracso::proc::is_locked(text, 0x4800) == std::nullopt);
  CHECK(tracso::proc::is_locked(text, 0x5000) == std::nullopt);  // an old kernel
}
