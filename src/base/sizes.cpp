#include "base/sizes.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

namespace tracso {

std::string size_text(std::uint64_t bytes) {
  constexpr double unit = 1024;
  const auto value = static_cast<double>(bytes);
  if (bytes < 1024) {
    return fmt::format("{} B", bytes);
  }
  // The next unit takes over where one decimal would print 1024.0.
  if (value < unit * (unit - 0.05)) {
    return fmt::format("{:.1f} KB", value / unit);
  }
  if (value < unit * unit * (unit - 0.05)) {
    return fmt::format("{:.1f} MB", value / (unit * unit));
  }
  return fmt::format("{:.2f} GB", value / (unit * unit * unit));
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
  const std::size_t digits = text.find_first_not_of("0123456789.");
  const auto number = parse_decimal(text.substr(0, digits));
  if (!number) {
    return std::nullopt;
  }
  const std::string unit =
      lower_case(digits == std::string_view::npos ? "" : trim(text.substr(digits)));
  double factor = 0;
  if (unit.empty() || unit == "b") {
    factor = 1;
  } else if (unit == "k" || unit == "kb" || unit == "kib") {
    factor = 1024.0;
  } else if (unit == "m" || unit == "mb" || unit == "mib") {
    factor = 1024.0 * 1024;
  } else if (unit == "g" || unit == "gb" || unit == "gib") {
    factor = 1024.0 * 1024 * 1024;
  }
  const double bytes = *number * factor;
  if (factor == 0 || bytes > 9e18) {
    return std::nullopt;
  }
  return static_cast<std::uint64_t>(bytes);
}

}  // namespace tracso
