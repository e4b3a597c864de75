#include "render/not_found.hpp"

#include "base/text.hpp"
#include "render/text/columns.hpp"
#include "render/text/wrap.hpp"
#include "render/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace tracso {
namespace {

constexpr std::size_t missing_name_columns = 40;

struct Missing {
  Row row;
  std::string places;  // a line of its own; empty: it was looked for nowhere
};

// "    libf.so.7 was looked for in /opt/x, /etc/ld.so.cache, /lib and 3 more"
std::string places_searched(const RenderOptions& options,
                            const std::string& name,
                            const Edge& edge) {
  constexpr std::size_t most = 4;
  std::vector<std::string> places;
  for (const SearchStep& step : edge.search) {
    const std::string& place = !step.directory.empty() ? step.directory : step.path;
    if (!place.empty() && std::find(places.begin(), places.end(), place) == places.end()) {
      places.push_back(printable(place));
    }
  }
  if (places.empty()) {
    return "";
  }
  const std::size_t beyond = places.size() - std::min(most, places.size());
  places.resize(places.size() - beyond);
  const std::string text = fmt::format("{} was looked for in {}{}",
                                       name,
                                       join(places, ", "),
                                       beyond == 0 ? "" : fmt::format(" and {} more", beyond));
  return "    " + wrapped(text, {options.width, 4, 6}) + "\n";
}

Missing missing(const RenderOptions& options, const Trace& trace, NodeId id) {
  const Node& node = trace.graph[id];
  Missing found{{shown_name(node), {}, Style::red}, ""};
  const auto causes = trace.graph.causes_of(id);
  if (!causes.empty()) {
    const Edge& edge = trace.graph[causes.front()];
    found.row.rest.add(edge.kind == EdgeKind::preload ? " named by " : " needed by ")
        .add(shown_name(trace.graph[edge.from]));
    found.places = places_searched(options, shown_name(node), edge);
  }
  if (causes.size() > 1) {
    found.row.rest.add(fmt::format(" and {} more", causes.size() - 1));
  }
  return found;
}

}  // namespace

std::string not_found_section(const RenderOptions& options, const Trace& trace) {
  std::vector<Row> rows;
  std::string places;
  std::size_t all = 0;
  for (std::size_t i = 0; i < trace.graph.nodes().size(); ++i) {
    if (!is_missing(trace.graph.nodes()[i])) {
      continue;
    }
    ++all;
    if (options.limit_orphans == 0 || rows.size() < options.limit_orphans) {
      Missing found = missing(options, trace, NodeId{static_cast<std::uint32_t>(i)});
      rows.push_back(std::move(found.row));
      places += found.places;
    }
  }
  if (rows.empty()) {
    return "";
  }
  std::string out =
      "\n" + paint(options.color, Style::bold, "Not found") + "\n" +
      table(rows, {missing_name_columns, options.width, options.color, options.unicode});
  if (all > rows.size()) {
    const std::string rest = fmt::format("  ... and {} more", all - rows.size());
    out += paint(options.color, Style::dim, rest) + "\n";
  }
  return out + places;
}

}  // namespace tracso
