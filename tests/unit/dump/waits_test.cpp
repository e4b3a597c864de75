#include "dump/waits.hpp"

#include "support/catch.hpp"

namespace tracso::dump {
namespace {

ThreadDump waiting(std::int32_t id, std::int32_t owner) {
  ThreadDump thread;
  thread.id = id;
  thread.waits_for.owner = owner;
  return thread;
}

using Circles = std::vector<std::vector<std::int32_t>>;

TEST_CASE("deadlocks: each circle once, nobody who only waits for it", "[dump]") {
  CHECK(find_deadlocks({waiting(1, 2), waiting(2, 3), waiting(3, 0)}).empty());
  CHECK(find_deadlocks({waiting(1, 2), waiting(2, 1)}) == Circles{{1, 2}});
  CHECK(
      find_deadlocks({waiting(9, 1), waiting(1, 2), waiting(2, 3), waiting(3, 1), waiting(8, 9)}) ==
      Circles{{1, 2, 3}});
  CHECK(find_deadlocks({waiting(1, 2), waiting(2, 1), waiting(3, 4), waiting(4, 3)}) ==
        Circles{{1, 2}, {3, 4}});
  CHECK(find_deadlocks({waiting(1, 1), waiting(2, 7)}).empty());
}

TEST_CASE("sockets: names of the tables of /proc/net", "[dump]") {
  SocketNames names;
  add_inet_sockets(
      "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout "
      "inode\n"
      "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 "
      "90 1 0\n"
      "   1: 0100007F:1F90 0200007F:A1E6 01 00000000:00000000 00:00000000 00000000     0        0 "
      "91 1 0\n"
      "   2: 0100007F:XX 0200007F:A1E6 01 00000000:00000000 00:00000000 00000000     0        0 92 "
      "1 0\n"
      "   3: 01\n",
      "tcp",
      names);
  add_inet_sockets(
      "   0: 00000000000000000000000001000000:0050 00000000000000000000000000000000:0000 0A "
      "00000000:00000000 00:00000000 00000000     0        0 95 1 0\n",
      "tcp6",
      names);
  add_unix_sockets(
      "Num       RefCount Protocol Flags    Type St Inode Path\n"
      "0000000000000000: 00000002 00000000 00010000 0001 01 97 /run/x.sock\n"
      "0000000000000000: 00000003 00000000 00000000 0001 03 98\n",
      names);
  CHECK(names[90] == "tcp 127.0.0.1:8080 listening");
  CHECK(names[91] == "tcp 127.0.0.1:8080 -> 127.0.0.2:41446");
  CHECK_FALSE(names.contains(92));
  CHECK(names[95] == "tcp6 [::1]:80 listening");
  CHECK(names[97] == "unix /run/x.sock");
  CHECK(names[98] == "unix");
}

}  // namespace
}  // namespace tracso::dump
