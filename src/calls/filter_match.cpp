#include "calls/filter_match.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>

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

const CalledObject* find_fitting(std::string_view pattern, std::span<const CalledObject> objects) {
  const auto found = std::find_if(objects.begin(), objects.end(), [&](const CalledObject& object) {
    return fits(pattern, {object.path, object.is_program});
  });
  return found == objects.end() ? nullptr : &*found;
}

// "libssl" and "ssl" were meant to be 'libssl*'.
std::string fitting_pattern(std::string_view pattern, std::span<const CalledObject> objects) {
  for (const std::string_view prefix : {"", "lib"}) {
    const auto wider = fmt::format("{}{}*", prefix, pattern);
    if (const auto* object = find_fitting(wider, objects)) {
      return fmt::format("{} does: '{}'", base_name(object->path), wider);
    }
  }
  return "";
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

void add_unfit_libraries(const Filter& filter, CallsReport& report) {
  std::set<std::string> patterns{filter.caller, filter.callee};
  for (const Rule& rule : filter.rules) {
    if (!rule.exclude) {
      patterns.insert(rule.library);
    }
  }
  for (const std::string& pattern : patterns) {
    if (!report.objects.empty() && find_fitting(pattern, report.objects) == nullptr) {
      report.notices.push_back({"calls-no-library",
                                fmt::format("no library fits '{}'", pattern),
                                "",
                                fitting_pattern(pattern, report.objects)});
    }
  }
}

}  // namespace tracso::calls
