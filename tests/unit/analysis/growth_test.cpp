#include "analysis/growth.hpp"

#include "render/text/sparkline.hpp"
#include "support/catch.hpp"

namespace tracso {
namespace {

constexpr double megabyte = 1024.0 * 1024.0;

std::vector<Sample> line(double start, double per_second, std::size_t count = 12) {
  std::vector<Sample> samples;
  for (std::size_t i = 0; i < count; ++i) {
    const auto time = static_cast<double>(i);
    samples.push_back({time, start + per_second * time});
  }
  return samples;
}

TEST_CASE("growth: a steady rise grows at its slope", "[analysis][growth]") {
  const Growth growth = growth_of(line(100, 2), 1);
  CHECK(growth.grows);
  CHECK(growth.per_second == Approx(2));
}

TEST_CASE("growth: noise, a single step back and few samples do not grow", "[analysis][growth]") {
  CHECK_FALSE(growth_of(line(100, 0), 1).grows);
  CHECK_FALSE(growth_of(line(100, -2), 1).grows);
  CHECK_FALSE(growth_of(line(100, 2, 5), 1).grows);
  CHECK_FALSE(growth_of(line(100, 2), 1000).grows);
  std::vector<Sample> hump = line(100, 2);
  for (std::size_t i = 8; i < hump.size(); ++i) {
    hump[i].value = 100;
  }
  CHECK_FALSE(growth_of(hump, 1).grows);
}

TEST_CASE("growth: the limit is met in time at that pace", "[analysis][growth]") {
  const Growth growth = growth_of(line(100, 2), 1);
  CHECK(time_to_limit(growth, 122, 1022) == Approx(450));
  CHECK_FALSE(time_to_limit(growth, 2000, 1022));
  CHECK_FALSE(time_to_limit({}, 100, 1022));
  CHECK(duration_text(450) == "7 min");
  CHECK(duration_text(12'000) == "3 h 20 min");
  CHECK(duration_text(45) == "45 s");
}

TEST_CASE("growth: the verdict tells native memory from Python's", "[analysis][growth]") {
  ClassHistory history;
  for (auto& one : history) {
    one = line(10 * megabyte, 0);
  }
  CHECK(growth_verdict(history, true) == "nothing grows");
  history[static_cast<std::size_t>(MemoryClass::heap)] = line(10 * megabyte, megabyte);
  CHECK(growth_verdict(history, true) ==
        "native heap (60.0 MB a minute) grows, Python objects do not");
  history[static_cast<std::size_t>(MemoryClass::python)] = line(10 * megabyte, megabyte);
  CHECK(growth_verdict(history, true) ==
        "native heap (60.0 MB a minute), Python objects (60.0 MB a minute) grow");
  CHECK(growth_verdict({}, true) ==
        "too few looks to tell what grows: 6 at memory by use are needed, one every 5 s");
}

TEST_CASE("sparkline: from the smallest to the largest, the last values only", "[render]") {
  const std::vector<double> values{9, 0, 1, 2, 3, 4, 5, 6, 7};
  CHECK(sparkline(values, 8, false) == "_.-=+*%#");
  CHECK(sparkline(std::vector<double>{5, 5, 5}, 8, false) == "___");
  CHECK(sparkline({}, 8, true).empty());
  CHECK(sparkline(values, 2, true) == "\xe2\x96\x81\xe2\x96\x88");
}

}  // namespace
}  // namespace tracso
