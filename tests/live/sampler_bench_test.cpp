// What one quick look at a process takes: processor time of this thread, printed for
// tests/bench/costs.py, which sets the process.

#include "os/sampler.hpp"
#include "support/catch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <vector>

namespace tracso::test {
namespace {

double thread_microseconds() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) / 1e3;
}

TEST_CASE("bench: the quick look at a process", "[.][bench]") {
  constexpr int rounds = 41, looks = 500;
  const char* pid = std::getenv("TRACSO_BENCH_PID");
  REQUIRE(pid != nullptr);
  const auto sampler = os::Sampler::open(std::atoi(pid));
  REQUIRE(sampler);
  std::vector<double> each;
  for (int round = 0; round < rounds; ++round) {
    const double begin = thread_microseconds();
    for (int i = 0; i < looks; ++i) {
      REQUIRE(sampler->look());
    }
    each.push_back((thread_microseconds() - begin) / looks);
  }
  std::sort(each.begin(), each.end());
  fmt::print("look: {:.2f} us at best, {:.2f} in the median\n", each.front(), each[rounds / 2]);
}

}  // namespace
}  // namespace tracso::test
