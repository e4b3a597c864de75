#include "base/sizes.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>

namespace tracso {

namespace {

struct SizeUnit {
  std::string_view name;
  int decimals;
};

constexpr std::array size_units{
    SizeUnit{"B", 0}, SizeUnit{"KB", 1}, SizeUnit{"MB", 1}, SizeUnit{"GB", 2}, SizeUnit{"TB", 2}};

// With so many decimals more than usual.
std::string size_with(std::uint64_t bytes, int more) {
  if (bytes < 1024) {
    return fmt::format("{} B", bytes);
  }
  double value = static_cast<double>(bytes) / 1024;
  std::size_t at = 1;
  // The next unit takes over where the usual decimals would print 1024.0.
  while (at + 1 < size_units.size() &&
         value >= 1024 - (size_units[at].decimals == 1 ? 0.05 : 0.005)) {
    value /= 1024;
    ++at;
  }
  return fmt::format("{:.{}f} {}", value, size_units[at].decimals + more, size_units[at].name);
}

}  // namespace

std::string size_text(std::uint64_t bytes) {
  return size_with(bytes, 0);
}

std::pair<std::string, std::string> told_apart(std::uint64_t one, std::uint64_t other) {
  constexpr int most_decimals = 2;
  for (int more = 0; more <= most_decimals; ++more) {
    std::pair texts(size_with(one, more), size_with(other, more));
    if (one == other || texts.first != texts.second) {
      return texts;
    }
  }
  return {fmt::format("{} B", one), fmt::format("{} B", other)};
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
  } else if (unit == "t" || unit == "tb" || unit == "tib") {
    factor = 1024.0 * 1024 * 1024 * 1024;
  }
  const double bytes = *number * factor;
  if (factor == 0 || bytes > 9e18) {
    return std::nullopt;
  }
  return static_cast<std::uint64_t>(bytes);
}

}  // namespace tracso
