#include "launch/quiet.hpp"

#include "support/catch.hpp"
#include "support/fake_target.hpp"

#include <chrono>

using namespace tracso;
using namespace tracso::launch;
using std::chrono::milliseconds;

namespace {

const QuietWatch::Clock::time_point start{};

Activity sleeping(std::uint64_t pages) {
  return {false, false, pages};
}

}  // namespace

TEST_CASE("quiet: only after the whole time without work", "[launch][quiet]") {
  QuietWatch watch(milliseconds(500));
  CHECK_FALSE(watch.observe(sleeping(7), start));  // the first look knows no pages before it
  CHECK_FALSE(watch.observe(sleeping(7), start + milliseconds(20)));
  CHECK_FALSE(watch.observe(sleeping(7), start + milliseconds(510)));
  CHECK(watch.observe(sleeping(7), start + milliseconds(520)));
}

TEST_CASE("quiet: a running thread, a load or a stop begins anew", "[launch][quiet]") {
  const Activity disturbance =
      GENERATE(Activity{true, false, 7}, Activity{false, false, 8}, Activity{false, true, 7});
  QuietWatch watch(milliseconds(500));
  watch.observe(sleeping(7), start);
  watch.observe(sleeping(7), start + milliseconds(20));
  CHECK_FALSE(watch.observe(disturbance, start + milliseconds(519)));
  watch.observe(sleeping(disturbance.pages), start + milliseconds(530));
  CHECK_FALSE(watch.observe(sleeping(disturbance.pages), start + milliseconds(1000)));
  CHECK(watch.observe(sleeping(disturbance.pages), start + milliseconds(1040)));
}

TEST_CASE("quiet: a look sees every thread", "[launch][quiet]") {
  test::FakeProcess process;
  process.texts["statm"] = "2500 300 200 1 0 90 0\n";
  process.lists["task"] = {"1", "2", "3"};
  process.texts["task/1/stat"] = "1 (a b) S 0 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 5 1 1\n";
  process.texts["task/2/stat"] = "2 (c) S) S 0 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 5 1 1\n";
  CHECK(look_at_activity(process) == Activity{false, false, 2500});  // 3 has ended meanwhile
  process.texts["task/3/stat"] = "3 (d) R 0 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 5 1 1\n";
  CHECK(look_at_activity(process) == Activity{true, false, 2500});
  process.texts["task/3/stat"] = "3 (d) T 0 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 5 1 1\n";
  CHECK(look_at_activity(process) == Activity{false, true, 2500});
}

TEST_CASE("quiet: a process that has ended is no activity", "[launch][quiet]") {
  CHECK_FALSE(look_at_activity(test::FakeProcess{}));
}
