#include "analysis/growth.hpp"

#include "base/sizes.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace tracso {
namespace {

constexpr std::size_t fewest_samples = 6;
constexpr double least_growth = 1024.0 * 1024.0;

double median(std::span<const Sample> samples) {
  std::vector<double> values;
  for (const Sample& one : samples) {
    values.push_back(one.value);
  }
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Least squares.
double slope(std::span<const Sample> samples) {
  double time = 0;
  double value = 0;
  for (const Sample& one : samples) {
    time += one.seconds;
    value += one.value;
  }
  const auto count = static_cast<double>(samples.size());
  time /= count;
  value /= count;
  double above = 0;
  double below = 0;
  for (const Sample& one : samples) {
    above += (one.seconds - time) * (one.value - value);
    below += (one.seconds - time) * (one.seconds - time);
  }
  return below > 0 ? above / below : 0;
}

std::string pace(const Growth& growth) {
  const double per_minute = growth.per_second * 60;
  return size_text(static_cast<std::uint64_t>(std::max(0.0, per_minute))) + " a minute";
}

constexpr std::array<std::string_view, memory_class_count> class_words{"memory of libraries",
                                                                       "native heap",
                                                                       "Python objects",
                                                                       "thread stacks",
                                                                       "mapped files",
                                                                       "shared memory",
                                                                       "anonymous memory"};

}  // namespace

Growth growth_of(std::span<const Sample> samples, double least) {
  Growth growth;
  if (samples.size() < fewest_samples) {
    return growth;
  }
  growth.per_second = slope(samples);
  const std::size_t third = samples.size() / 3;
  const double first = median(samples.first(third));
  const double middle = median(samples.subspan(third, third));
  const double last = median(samples.last(third));
  growth.grows = first < middle && middle < last && last - first >= least;
  return growth;
}

std::optional<double> time_to_limit(const Growth& growth, double now, double limit) {
  if (!growth.grows || growth.per_second <= 0 || now >= limit) {
    return std::nullopt;
  }
  return (limit - now) / growth.per_second;
}

std::string growth_verdict(const ClassHistory& history, bool is_python) {
  std::vector<std::string> growing;
  bool python = false;
  bool native = false;
  std::size_t most = 0;
  for (std::size_t i = 0; i < memory_class_count; ++i) {
    most = std::max(most, history[i].size());
    const Growth growth = growth_of(history[i], least_growth);
    if (growth.grows) {
      growing.push_back(fmt::format("{} ({})", class_words[i], pace(growth)));
      const auto what = static_cast<MemoryClass>(i);
      python = python || what == MemoryClass::python;
      native = native || what == MemoryClass::heap || what == MemoryClass::other;
    }
  }
  if (most < fewest_samples) {
    // The command that watches looks at them every five seconds (src/commands/watch_state.cpp).
    return fmt::format(
        "too few looks to tell what grows: {} at memory by use are needed, one every 5 s",
        fewest_samples);
  }
  if (growing.empty()) {
    return "nothing grows";
  }
  const std::string list = join(growing, ", ");
  const std::string_view verb = growing.size() == 1 && !python ? "grows" : "grow";
  return is_python && native && !python ? fmt::format("{} {}, Python objects do not", list, verb)
                                        : fmt::format("{} {}", list, verb);
}

std::string duration_text(double seconds) {
  constexpr double minute = 60;
  constexpr double hour = 3600;
  constexpr double day = 86400;
  const auto whole = [](double number) { return static_cast<std::uint64_t>(number); };
  if (seconds < 2 * minute) {
    return fmt::format("{} s", whole(seconds));
  }
  if (seconds < hour) {
    return fmt::format("{} min", whole(seconds / minute));
  }
  if (seconds < 2 * day) {
    const double rest = seconds - hour * static_cast<double>(whole(seconds / hour));
    return fmt::format("{} h {} min", whole(seconds / hour), whole(rest / minute));
  }
  return seconds > 1000 * day ? "years" : fmt::format("{} days", whole(seconds / day));
}

}  // namespace tracso
