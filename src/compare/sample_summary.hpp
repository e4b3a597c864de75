#pragma once
// Samples of memory, as many as there may come, in little room: the highest, and the highest of
// each of at most 60 intervals.

#include "tracso/stat.hpp"

#include <cstdint>

namespace tracso {

class SampleSummary {
 public:
  explicit SampleSummary(std::int64_t asked_ns) { samples_.asked_ns = asked_ns; }

  /// Times do not decrease. The first is where time begins.
  void add(std::int64_t at_ns, std::uint64_t resident, std::uint64_t anonymous);

  const MemorySamples& samples() const { return samples_; }

 private:
  void widen();

  MemorySamples samples_;
  std::int64_t begin_ = 0, last_ = 0;
  std::int64_t width_ = 0;  // of an interval; doubles when there are too many
};

}  // namespace tracso
