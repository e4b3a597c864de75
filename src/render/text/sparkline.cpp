#include "render/text/sparkline.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace tracso {
namespace {

constexpr std::array<std::string_view, 8> blocks{"\xe2\x96\x81",
                                                 "\xe2\x96\x82",
                                                 "\xe2\x96\x83",
                                                 "\xe2\x96\x84",
                                                 "\xe2\x96\x85",
                                                 "\xe2\x96\x86",
                                                 "\xe2\x96\x87",
                                                 "\xe2\x96\x88"};
constexpr std::array<std::string_view, 8> ascii_blocks{"_", ".", "-", "=", "+", "*", "%", "#"};

}  // namespace

std::string sparkline(std::span<const double> values, std::size_t columns, bool unicode) {
  values = values.last(std::min(values.size(), columns));
  if (values.empty()) {
    return "";
  }
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const double range = *most - *least;
  std::string out;
  for (const double value : values) {
    constexpr double top = 7;
    const double part = range > 0 ? (value - *least) / range * top : 0;
    const auto level = static_cast<std::size_t>(part + 0.5);
    out += (unicode ? blocks : ascii_blocks)[std::min<std::size_t>(level, blocks.size() - 1)];
  }
  return out;
}

}  // namespace tracso
