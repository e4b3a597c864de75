#include "proc/net_tables.hpp"

#include "support/catch.hpp"

namespace tracso::proc {
namespace {

constexpr const char* tcp =
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout "
    "inode\n"
    "   0: 0100007F:1F90 00000000:0000 0A 00000080:00000002 00:00000000 00000000  1000        0 "
    "4711 1\n"
    "   1: 0100007F:D3E2 0100007F:1F90 01 00000064:00000010 00:00000000 00000000  1000        0 "
    "4712 1\n";

TEST_CASE("net tables: TCP sockets with both queues", "[proc][net]") {
  const auto sockets = parse_internet_table(tcp);
  REQUIRE(sockets.size() == 2);
  CHECK(sockets[0] == InternetSocket{4711, "127.0.0.1:8080", "", 10, 2, 128});
  CHECK(sockets[1].local == "127.0.0.1:54242");
  CHECK(sockets[1].remote == "127.0.0.1:8080");
  CHECK(sockets[1].waiting == 16);
  CHECK(sockets[1].unsent == 100);
  CHECK(tcp_state_name(sockets[0].state) == "listening");
}

TEST_CASE("net tables: addresses of IPv6, and of nobody", "[proc][net]") {
  const auto sockets = parse_internet_table(
      "   0: 00000000000000000000000001000000:0050 00000000000000000000000000000000:0000 0A "
      "00000000:00000000 00:00000000 00000000 0 0 5\n"
      "   1: 00000000:0035 00000000:0000 07 00000000:00000000 00:00000000 00000000 0 0 6 2\n");
  REQUIRE(sockets.size() == 2);
  CHECK(sockets[0].local == "[::1]:80");
  CHECK(sockets[1].local == "*:53");
}

TEST_CASE("net tables: lines that are none are skipped, many are cut", "[proc][net]") {
  CHECK(parse_internet_table("").empty());
  CHECK(parse_internet_table("0: 0100007F:1F90\n").empty());
  CHECK(parse_internet_table("0: 0100007:1F90 00000000:0000 0A 0:0 0 0 0 0 1\n").empty());
  CHECK(parse_internet_table("0: GGGGGGGG:1F90 00000000:0000 0A 0:0 0 0 0 0 1\n").empty());
  CHECK(parse_internet_table("0: 0100007F:FFFFF 00000000:0000 0A 0:0 0 0 0 0 1\n").empty());
  CHECK(parse_internet_table(tcp, 1).size() == 1);
  CHECK(tcp_state_name(255).empty());
}

TEST_CASE("net tables: Unix sockets, with blanks in their paths", "[proc][net]") {
  const auto sockets = parse_unix_table(
      "Num       RefCount Protocol Flags    Type St Inode Path\n"
      "ffff8881: 00000002 00000000 00010000 0001 01 4711 /run/a b.sock\n"
      "ffff8882: 00000003 00000000 00000000 0002 01  4712 @abstract\n"
      "ffff8883: 00000003 00000000 00000000 0001 03  4713\n");
  REQUIRE(sockets.size() == 3);
  CHECK(sockets[0] == UnixSocket{4711, "/run/a b.sock", 1, true});
  CHECK(sockets[1].path == "@abstract");
  CHECK(sockets[2].path.empty());
  CHECK_FALSE(sockets[2].listening);
}

TEST_CASE("net tables: endpoints as text", "[proc][net]") {
  CHECK(endpoint_text({"\x0a\x00\x00\x02", 4}, 22) == "10.0.0.2:22");
  CHECK(endpoint_text({"\0\0\0\0", 4}, 0) == "*:*");
  CHECK(endpoint_text("abc", 1).empty());
}

}  // namespace
}  // namespace tracso::proc
