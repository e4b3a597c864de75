#include "cli/baseline_options.hpp"

#include "base/text.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace tracso {

void add_baseline_options(CLI::App& app, BaselineWords& words, const std::string& group) {
  app.add_option("--save-baseline", words.save, "write the figures down")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--baseline", words.compare, "compare with figures written down before")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--fail-on-regression",
                 words.regression,
                 "how much bytes may grow over the baseline: 10%, 10%+2MB")
      ->type_name("GROWTH")
      ->group(group);
  app.add_option(
         "--tolerance", words.tolerances, "the same for one figure: rss=5%+1MB (repeatable)")
      ->type_name("NAME=GROWTH")
      ->allow_extra_args(false)
      ->group(group);
}

std::optional<Leave> read_tolerances(const BaselineWords& words, Tolerances& into) {
  if ((!words.regression.empty() || !words.tolerances.empty()) && words.compare.empty()) {
    return usage_error("there is nothing to compare with", "add --baseline FILE");
  }
  if (!words.regression.empty()) {
    auto tolerance = parse_tolerance(words.regression);
    if (!tolerance) {
      return usage_error(fmt::format("--fail-on-regression '{}': {}",
                                     printable(words.regression),
                                     tolerance.error().reason),
                         tolerance.error().hint);
    }
    into.bytes = *tolerance;
  }
  for (const std::string& word : words.tolerances) {
    const std::size_t sign = word.find('=');
    const std::string name = word.substr(0, sign);
    const auto names = figure_names();
    const bool known = std::any_of(
        names.begin(), names.end(), [&](const FigureName& one) { return one.name == name; });
    auto tolerance = parse_tolerance(sign == std::string::npos ? "" : word.substr(sign + 1));
    if (!known || !tolerance) {
      return usage_error(fmt::format("--tolerance '{}' is none", printable(word)),
                         "--tolerance rss=5%+1MB; names: peak rss dirty fds threads children libs");
    }
    into.named.emplace_back(name, *tolerance);
  }
  return std::nullopt;
}

}  // namespace tracso
