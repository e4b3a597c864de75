#include "graph/baseline_json.hpp"

#include "graph/json_item.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tracso {
namespace {

constexpr std::size_t largest_baseline = std::size_t{16} << 20U;
constexpr std::size_t deepest_baseline = 16;

Error malformed_baseline(std::string_view name, std::string reason) {
  return {ErrorKind::malformed,
          "read the baseline",
          std::string(name),
          std::move(reason),
          "--save-baseline FILE writes one"};
}

StatFigures read_figures(const JsonItem& item) {
  const auto number = [&](const char* key) { return item.optional_number<std::uint64_t>(key); };
  return {number("peak"),
          number("rss"),
          number("dirty"),
          number("fds"),
          number("threads"),
          number("children"),
          number("libs"),
          number("wall_ns"),
          number("cpu_ns")};
}

}  // namespace

Result<Baseline> read_baseline_json(std::string_view text, std::string_view name) {
  if (text.size() > largest_baseline || json_shape(text).depth > deepest_baseline) {
    return malformed_baseline(name, "it is too large to be one");
  }
  const auto parsed = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  JsonProblem problem;
  const JsonItem document(&parsed, "", &problem);
  if (!parsed.is_object() || document.text("schema") != "tracso/1" ||
      document.text("kind") != "baseline") {
    return malformed_baseline(name, "it is no JSON document of kind 'baseline'");
  }
  Baseline baseline;
  baseline.version = document.text("version");
  baseline.target = document.text("target");
  baseline.kernel = document.text("kernel");
  baseline.page_bytes = document.number<std::uint64_t>("page_bytes");
  baseline.huge_pages = document.text("huge_pages");
  baseline.figures = read_figures(document.at("figures"));
  baseline.libraries = document.texts("libraries");
  std::sort(baseline.libraries.begin(), baseline.libraries.end());
  if (problem.any()) {
    return malformed_baseline(name, problem.text());
  }
  return baseline;
}

}  // namespace tracso
