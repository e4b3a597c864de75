#include "compare/sample_summary.hpp"

#include "support/catch.hpp"

using namespace tracso;

namespace {

constexpr std::int64_t millisecond = 1'000'000;

TEST_CASE("samples: the peak, when it was, and the longest gap", "[compare][samples]") {
  SampleSummary summary(5 * millisecond);
  const std::int64_t begin = 1000 * millisecond;
  summary.add(begin, 100, 50);
  summary.add(begin + 5 * millisecond, 900, 40);
  summary.add(begin + 25 * millisecond, 200, 70);
  const MemorySamples& samples = summary.samples();
  CHECK(samples.count == 3);
  CHECK(samples.resident.bytes == 900);
  CHECK(samples.resident.at_ns == 5 * millisecond);
  CHECK(samples.anonymous.bytes == 70);
  CHECK(samples.anonymous.at_ns == 25 * millisecond);
  CHECK(samples.longest_gap_ns == 20 * millisecond);
  REQUIRE(samples.intervals.size() == 3);  // one for each sample, that without one left out
  CHECK(samples.intervals[1].resident == 900);
  CHECK(samples.intervals[2].from_ns == 25 * millisecond);
}

TEST_CASE("samples: however many there are, at most 60 intervals, and no peak is lost",
          "[compare][samples]") {
  SampleSummary summary(millisecond);
  constexpr int many = 100'000, spike = 70'001;
  for (int i = 0; i < many; ++i) {
    summary.add(i * millisecond, i == spike ? 5000 : 1000, 10);
  }
  const MemorySamples& samples = summary.samples();
  CHECK(samples.count == many);
  CHECK(samples.intervals.size() <= 60);
  CHECK(samples.intervals.size() > 30);
  std::size_t with_spike = 0;
  std::int64_t last = 0;
  for (const auto& interval : samples.intervals) {
    CHECK(interval.from_ns == last);
    last = interval.to_ns;
    const bool inside =
        interval.from_ns <= spike * millisecond && spike * millisecond < interval.to_ns;
    CHECK(interval.resident == (inside ? 5000 : 1000));
    with_spike += inside ? 1 : 0;
  }
  CHECK(with_spike == 1);
  CHECK(samples.resident.at_ns == spike * millisecond);
}

}  // namespace
