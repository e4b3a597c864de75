#pragma once
// Numbers as a row of small bars.

#include <cstddef>
#include <span>
#include <string>

namespace tracso {

/// The last `columns` values, one character each, from their smallest to their largest; a row of
/// equal values lies at the bottom.
std::string sparkline(std::span<const double> values, std::size_t columns, bool unicode);

}  // namespace tracso
