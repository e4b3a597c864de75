#pragma once
// Which results of library functions mean that they failed.

#include <cstdint>
#include <span>
#include <string_view>

namespace tracso::calls {

struct ErrorRule {
  std::string_view name;
  std::uint8_t when = 0;  ///< enum tracso_error_when
};

/// Sorted by name; at most tracso_most_error_rules.
std::span<const ErrorRule> error_rules();

/// enum tracso_error_when; tracso_never: there is none.
std::uint8_t error_rule(std::string_view name);

/// Does a result mean that the function has failed, by that rule?
bool means_failure(std::uint64_t value, std::uint8_t when);

/// Whether there is a rule for the function.
bool tells_errors(std::string_view name);

}  // namespace tracso::calls
