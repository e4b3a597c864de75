// Not a test: tests/bench/bench.py --growth runs it for its table.

#include "loader/link_map.hpp"
#include "os/live_process.hpp"
#include "proc/auxv.hpp"
#include "proc/maps.hpp"
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
  const auto process = os::LiveProcess::open(std::atoi(pid));
  REQUIRE(process);
  const auto text = (*process)->read("auxv");
  REQUIRE(text);
  const auto auxv = proc::parse_auxv(*text);
  REQUIRE(auxv);
  const auto mappings = proc::parse_maps((*process)->read("maps").value());
  REQUIRE(mappings);
  std::vector<double> milliseconds;
  std::size_t entries = 0;
  for (int round = 0; round < 21; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    const auto maps = loader::read_link_maps(**process, *mappings, *auxv);
    REQUIRE(maps);
    const auto sections = loader::read_dynamic_sections(**process, *maps);
    const auto matches = loader::match_needed(*maps, sections, "");
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    milliseconds.push_back(took.count());
    entries = maps->entries.size();
  }
  std::sort(milliseconds.begin(), milliseconds.end());
  fmt::print("records: {:.2f} ms, {} entries\n", milliseconds[milliseconds.size() / 2], entries);
}

}  // namespace tracso::test
