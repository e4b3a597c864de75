#include "calls/filter_match.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <cstddef>

namespace tracso::calls {
namespace {

bool fits(std::string_view pattern, const FilterParty& library) {
  if (pattern.empty() || pattern == "*") {
    return true;
  }
  if (pattern == "MAIN") {
    return library.program;
  }
  return glob_match(pattern, pattern.front() == '/' ? library.path : base_name(library.path));
}

}  // namespace

bool selects(const Filter& filter,
             std::string_view symbol,
             const FilterParty& caller,
             const FilterParty& callee) {
  if (!fits(filter.caller, caller) || !fits(filter.callee, callee)) {
    return false;
  }
  bool any = filter.rules.empty();
  for (std::size_t i = 0; i < filter.rules.size() && !any;) {
    const auto chain = filter.rules[i].chain;
    bool selected = filter.rules[i].exclude;  // a chain that begins with '-' starts from all
    for (; i < filter.rules.size() && filter.rules[i].chain == chain; ++i) {
      const Rule& rule = filter.rules[i];
      if (glob_match(rule.symbol, symbol) && fits(rule.library, rule.callee ? callee : caller)) {
        selected = !rule.exclude;
      }
    }
    any = selected;
  }
  return any;
}

bool may_select(const Filter& filter, const FilterParty& caller) {
  const bool any = std::any_of(filter.rules.begin(), filter.rules.end(), [&](const Rule& rule) {
    return rule.callee || rule.exclude || fits(rule.library, caller);
  });
  return fits(filter.caller, caller) && (filter.rules.empty() || any);
}

}  // namespace tracso::calls
