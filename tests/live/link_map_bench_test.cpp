// Not a test: tests/bench/bench.py --growth runs it for its table.

#include "support/c_programs.hpp"
#include "support/catch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace tracso::test {

TEST_CASE("bench: the loader's records of a process", "[.][bench]") {
  const char* pid = std::getenv("TRACSO_BENCH_PID");
  REQUIRE(pid != nullptr);
  std::vector<double> milliseconds;
  std::size_t entries = 0;
  for (int round = 0; round < 21; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    const auto view = look_at(std::atoi(pid));
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    milliseconds.push_back(took.count());
    REQUIRE(view.maps);
    entries = view.maps->entries.size();
  }
  std::sort(milliseconds.begin(), milliseconds.end());
  fmt::print("records: {:.2f} ms, {} entries\n", milliseconds[milliseconds.size() / 2], entries);
}

}  // namespace tracso::test
