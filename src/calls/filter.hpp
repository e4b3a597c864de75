#pragma once
// Which calls are asked for: ltrace's filter expressions, to rules that the agent applies.

#include "tracso/result.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tracso::calls {

/// [+-][SYMBOL][@LIBRARY], both globs.
struct Rule {
  std::uint16_t chain = 0;  ///< rules of one option; the last that fits decides
  bool exclude = false;
  bool callee = false;  ///< the library is the one called, not the caller
  std::string symbol = "*", library = "*";
  bool operator==(const Rule&) const = default;
};

struct Filter {
  std::vector<Rule> rules;     ///< a call is wanted if one chain selects it; none: all are
  std::string caller, callee;  ///< globs that narrow it; empty: any
};

/// Adds a chain: "malloc+free-@libc.so*". usage: a pattern in slashes, one that is too long, more
/// rules than the agent keeps.
Result<Done> add_expression(Filter& filter, std::string_view expression);
/// Adds all functions of the libraries that match. Errors as above.
Result<Done> add_library(Filter& filter, std::string_view pattern);
/// A filter for each of its chains.
std::vector<Filter> chains_of(const std::optional<Filter>& filter);
/// A chain as it may have been written.
std::string expression_of(const Filter& chain);
/// As above for the narrowing ones.
Result<Done> set_narrowing(std::string& into, std::string_view pattern);

}  // namespace tracso::calls
