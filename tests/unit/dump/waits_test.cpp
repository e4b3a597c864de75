#include "dump/waits.hpp"

#include "support/catch.hpp"
#include "support/fake_target.hpp"

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

test::FakeProcess with_tables() {
  test::FakeProcess process;
  process.texts["net/tcp"] =
      "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout "
      "inode\n"
      "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 "
      "90 1 0\n"
      "   1: 0100007F:1F90 0200007F:A1E6 01 00000000:00000000 00:00000000 00000000     0        0 "
      "91 1 0\n"
      "   2: 0100007F:XX 0200007F:A1E6 01 00000000:00000000 00:00000000 00000000     0        0 92 "
      "1 0\n"
      "   3: 01\n";
  process.texts["net/tcp6"] =
      "   0: 00000000000000000000000001000000:0050 00000000000000000000000000000000:0000 0A "
      "00000000:00000000 00:00000000 00000000     0        0 95 1 0\n";
  process.texts["net/udp"] =
      "   0: 00000000:0035 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 "
      "96 1 0\n";
  process.texts["net/unix"] =
      "Num       RefCount Protocol Flags    Type St Inode Path\n"
      "0000000000000000: 00000002 00000000 00010000 0001 01 97 /run/x.sock\n"
      "0000000000000000: 00000003 00000000 00000000 0001 03 98\n";
  return process;
}

TEST_CASE("sockets: names of the tables of /proc/net", "[dump]") {
  const test::FakeProcess process = with_tables();
  const proc::Borrow nobody;
  SocketNames names(process, nobody);
  CHECK(names.of(3, 90) == "tcp 127.0.0.1:8080 listening");
  CHECK(names.of(3, 91) == "tcp 127.0.0.1:8080 -> 127.0.0.2:41446");
  CHECK(names.of(3, 92).empty());
  CHECK(names.of(3, 95) == "tcp [::1]:80 listening");
  CHECK(names.of(3, 96) == "udp *:53");
  CHECK(names.of(3, 97) == "unix /run/x.sock listening");
  CHECK(names.of(3, 98) == "unix");
}

TEST_CASE("sockets: a borrowed one is named as the tables would", "[dump]") {
  const test::FakeProcess process = with_tables();
  const proc::Borrow borrow = [](std::int32_t fd, DescriptorKind) {
    proc::BorrowedFacts facts;
    facts.kind = DescriptorKind::tcp;
    facts.target = fd == 3 ? "10.0.0.1:80" : "10.0.0.1:80 -> 10.0.0.2:4711";
    facts.detail = fd == 3 ? "listening" : "";
    return fd == 5 ? std::nullopt : std::optional(facts);
  };
  SocketNames names(process, borrow);
  CHECK(names.of(3, 91) == "tcp 10.0.0.1:80 listening");
  CHECK(names.of(4, 91) == "tcp 10.0.0.1:80 -> 10.0.0.2:4711");
  CHECK(names.of(5, 91) == "tcp 127.0.0.1:8080 -> 127.0.0.2:41446");  // it may not be borrowed
}

}  // namespace
}  // namespace tracso::dump
