#pragma once
// Does a figure grow, how fast, and when does it meet its limit?

#include "tracso/resources.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tracso {

struct Sample {
  double seconds = 0, value = 0;
};

struct Growth {
  double per_second = 0;  ///< slope of the straight line that fits best
  bool grows = false;     ///< more than noise: each third of the time lies above the one before
};

/// `least` is the growth over the whole time that counts at all. Fewer than six samples grow never.
Growth growth_of(std::span<const Sample> samples, double least);

/// Seconds until `limit` is met at that pace; nullopt: never.
std::optional<double> time_to_limit(const Growth& growth, double now, double limit);

/// The resident bytes of each class over time.
using ClassHistory = std::array<std::vector<Sample>, memory_class_count>;

/// "native heap grows (1.2 MB a minute), Python objects do not"; "nothing grows".
std::string growth_verdict(const ClassHistory& history, bool is_python);

/// "3 h 20 min", "45 s", "12 days".
std::string duration_text(double seconds);

}  // namespace tracso
