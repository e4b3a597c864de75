#include "compare/sample_summary.hpp"

#include <algorithm>
#include <utility>

namespace tracso {
namespace {

constexpr std::size_t most_intervals = 60;

void raise(MemorySamples::Peak& peak, std::uint64_t bytes, std::int64_t at) {
  if (bytes > peak.bytes) {
    peak = {bytes, at};
  }
}

}  // namespace

// Two neighbours become one.
void SampleSummary::widen() {
  width_ *= 2;
  std::vector<MemorySamples::Interval> wider;
  for (const MemorySamples::Interval& one : samples_.intervals) {
    const std::int64_t from = one.from_ns / width_ * width_;
    if (wider.empty() || wider.back().from_ns != from) {
      wider.push_back({from, from + width_, 0, 0});
    }
    wider.back().resident = std::max(wider.back().resident, one.resident);
    wider.back().anonymous = std::max(wider.back().anonymous, one.anonymous);
  }
  samples_.intervals = std::move(wider);
}

void SampleSummary::add(std::int64_t at_ns, std::uint64_t resident, std::uint64_t anonymous) {
  if (samples_.count == 0) {
    begin_ = last_ = at_ns;
    width_ = std::max<std::int64_t>(samples_.asked_ns, 1);
  }
  const std::int64_t at = at_ns - begin_;
  samples_.longest_gap_ns = std::max(samples_.longest_gap_ns, at_ns - last_);
  last_ = at_ns;
  ++samples_.count;
  raise(samples_.resident, resident, at);
  raise(samples_.anonymous, anonymous, at);
  while (at / width_ >= static_cast<std::int64_t>(most_intervals)) {
    widen();
  }
  const std::int64_t from = at / width_ * width_;
  auto& intervals = samples_.intervals;
  if (intervals.empty() || intervals.back().from_ns != from) {
    intervals.push_back({from, from + width_, 0, 0});
  }
  intervals.back().resident = std::max(intervals.back().resident, resident);
  intervals.back().anonymous = std::max(intervals.back().anonymous, anonymous);
}

}  // namespace tracso
