#pragma once
// How much a figure may grow: "10%", "+2MB", "10%+2MB", "0".

#include "tracso/result.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tracso {

/// Growth fails only if it exceeds every part that is given; without any, all growth fails.
struct Tolerance {
  std::optional<double> percent;
  std::optional<std::uint64_t> amount;  ///< bytes, or a number
  std::string text = {};                ///< as written

  bool allows(std::uint64_t before, std::uint64_t after) const;
};

/// usage: what is wrong, and the forms.
Result<Tolerance> parse_tolerance(std::string_view text);

}  // namespace tracso
