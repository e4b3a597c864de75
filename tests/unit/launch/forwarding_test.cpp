#include "launch/forwarding.hpp"

#include "support/catch.hpp"

#include <csignal>

using namespace tracso::launch;

namespace {

using std::chrono::milliseconds;
using Time = Forwarding::Clock::time_point;

const Time start{};

Time at(int after_ms) {
  return start + milliseconds(after_ms);
}

}  // namespace

TEST_CASE("forwarding: a signal is given on after a moment, once", "[launch][forwarding]") {
  Forwarding forwarding;
  CHECK_FALSE(forwarding.next());
  CHECK(forwarding.sent_to_us({SIGTERM, 7}, at(1000)));
  REQUIRE(forwarding.next());
  CHECK(*forwarding.next() > at(1000));
  CHECK(forwarding.take_due(at(1000)).empty());
  CHECK(forwarding.take_due(at(1100)) == std::vector<int>{SIGTERM});
  CHECK(forwarding.take_due(at(1200)).empty());
}

TEST_CASE("forwarding: what the command has got itself is dropped", "[launch][forwarding]") {
  Forwarding later;
  later.sent_to_us({SIGTERM, 7}, at(1000));
  later.received_by_command({SIGTERM, 7}, at(1001));
  CHECK_FALSE(later.next());

  Forwarding before;
  before.received_by_command({SIGHUP, 0}, at(999));
  before.sent_to_us({SIGHUP, 0}, at(1000));
  CHECK_FALSE(before.next());

  Forwarding another;
  another.sent_to_us({SIGTERM, 7}, at(1000));
  another.received_by_command({SIGTERM, 8}, at(1001));
  CHECK(another.next());
}

TEST_CASE("forwarding: a repetition at once is no second signal", "[launch][forwarding]") {
  Forwarding forwarding;
  CHECK(forwarding.sent_to_us({SIGTERM, 7}, at(1000)));
  CHECK(forwarding.take_due(at(1100)).size() == 1);
  CHECK(forwarding.sent_to_us({SIGTERM, 7}, at(1200)));
  CHECK_FALSE(forwarding.next());
  CHECK(forwarding.sent_to_us({SIGHUP, 7}, at(1300)));  // another one: given on too
  CHECK(forwarding.take_due(at(1400)) == std::vector<int>{SIGHUP});
  CHECK_FALSE(forwarding.sent_to_us({SIGTERM, 7}, at(1600)));
}
