#include "render/load_order.hpp"

#include "base/sizes.hpp"
#include "base/text.hpp"
#include "render/load_words.hpp"
#include "render/text/columns.hpp"
#include "render/text/wrap.hpp"
#include "render/words.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tracso {
namespace {

constexpr std::size_t loaded_name_columns = 32, chain_indent = 27;

std::string title(const RenderOptions& options, std::string_view text) {
  return "\n" + paint(options.color, Style::bold, text) + "\n";
}

std::string more(const RenderOptions& options, std::size_t hidden) {
  return hidden == 0
             ? ""
             : paint(options.color, Style::dim, fmt::format("  ... and {} more", hidden)) + "\n";
}

// The objects of one dlopen share its time: only the first of them shows it.
std::string moment(const Load& load, bool continues) {
  return continues ? std::string(25, ' ')
                   : fmt::format("  {:8.3f} s {:>9}  ",
                                 static_cast<double>(load.time_ns) / ns_per_second,
                                 milliseconds(load.duration_ns));
}

void add_cause(Line& line, const Trace& trace, const Load& load) {
  if (load.cause) {
    line.add("  by " + shown_name(trace.graph[*load.cause]), Style::dim);
  } else if (load.dlopen == 0) {
    line.add("  at the start", Style::dim);
  }
  if (load.unloaded_ns) {
    line.add(fmt::format("  unloaded at {:.3f} s",
                         static_cast<double>(*load.unloaded_ns) / ns_per_second),
             Style::yellow);
  }
}

std::string searched(const RenderOptions& options, const FailedLoad& failed) {
  constexpr std::size_t most_places = 8;
  std::vector<std::string> places;
  for (const SearchStep& step : failed.search) {
    const std::string& place = step.path.empty() ? step.directory : step.path;
    if (!place.empty() && step.outcome != SearchStep::Outcome::found) {
      places.push_back(printable(place) + (step.setting.empty() || step.setting == place
                                               ? ""
                                               : fmt::format(" ({})", printable(step.setting))));
    }
  }
  const std::size_t hidden = places.size() - std::min(places.size(), most_places);
  places.resize(places.size() - hidden);
  std::string text = failed.needed_by.empty()
                         ? ""
                         : fmt::format("    needed by {}\n", printable(failed.needed_by));
  if (!places.empty()) {
    const std::string sentence =
        fmt::format("looked in {}{}",
                    join(places, ", "),
                    hidden == 0 ? "" : " and " + counted(hidden, "more place"));
    text += "    " + wrapped(sentence, {options.width, 4, 6}) + "\n";
  }
  return text;
}

std::string load_order(const RenderOptions& options, const Trace& trace) {
  std::string out = trace.loads.empty() ? "" : title(options, "Load order");
  for (std::size_t i = 0; i < trace.loads.size(); ++i) {
    const Load& load = trace.loads[i];
    const bool continues = i > 0 && trace.loads[i - 1].dlopen == load.dlopen;
    Line line;
    line.add(moment(load, continues))
        .add(pad_right(shown_name(trace.graph[load.object]), loaded_name_columns));
    add_cause(line, trace, load);
    if (!continues && !load.imports.empty()) {
      line.add("  " + import_chain_text(load.imports, options.unicode), Style::dim);
    }
    // The chain is what was asked for: it goes on below, it is not cut.
    out += options.width != 0 && line.width() > options.width
               ? wrapped(line.paint(false), {options.width, 0, chain_indent}) + "\n"
               : line.paint(options.color) + "\n";
  }
  return out;
}

std::string import_cost(const RenderOptions& options, const Summary& summary) {
  if (summary.import_costs.empty()) {
    return "";
  }
  const std::size_t all = summary.import_costs.size();
  const std::size_t shown =
      options.limit_libraries == 0 ? all : std::min(all, options.limit_libraries);
  std::vector<Row> rows;
  for (std::size_t i = 0; i < shown; ++i) {
    const ImportCost& cost = summary.import_costs[i];
    Row row{cost.module.empty() ? "(no import)" : printable(cost.module), {}};
    row.rest
        .add(fmt::format(" {:>9}  {:>9}  {:<10}",
                         size_text(cost.file),
                         milliseconds(cost.load_ns),
                         "(" + counted(cost.libraries, "lib", "libs") + ")"))
        .add("  " + shown_place(cost.asked), Style::dim);
    rows.push_back(std::move(row));
  }
  return title(options, "Import cost") +
         table(rows, {loaded_name_columns, options.width, options.color, options.unicode}) +
         more(options, all - shown);
}

}  // namespace

std::string refused_section(const RenderOptions& options,
                            const Trace& trace,
                            const Summary& summary) {
  if (trace.failed_loads.empty()) {
    return "";
  }
  std::string out = title(options, "Refused by the loader");
  const std::size_t all = trace.failed_loads.size();
  const std::size_t shown = options.limit_orphans == 0 ? all : std::min(all, options.limit_orphans);
  for (std::size_t i = 0; i < shown; ++i) {
    const FailedLoad& failed = trace.failed_loads[i];
    Line line;
    line.add("  " + printable(failed.name) + ": ", Style::red).add(printable(failed.reason));
    if (!failed.asked.empty() && failed.asked != failed.name) {
      line.add(fmt::format("  needed for {}", printable(failed.asked)));
    }
    if (!failed.imports.empty()) {
      line.add("  " + import_chain_text(failed.imports, options.unicode), Style::dim);
    } else if (failed.cause) {
      line.add("  opened by " + shown_name(trace.graph[*failed.cause]), Style::dim);
    }
    if (options.width != 0 && line.width() > options.width) {
      out += wrapped(line.paint(false), {options.width, 0, 4}) + "\n";
    } else {
      out += line.paint(options.color) + "\n";
    }
    if (i < summary.refusals.size() && !summary.refusals[i].empty()) {
      out += "    " + wrapped(printable(summary.refusals[i]), {options.width, 4, 4}) + "\n";
    }
    out += searched(options, failed);
  }
  return out + more(options, all - shown);
}

std::string load_sections(const RenderOptions& options,
                          const Trace& trace,
                          const Summary& summary) {
  return load_order(options, trace) + import_cost(options, summary) +
         refused_section(options, trace, summary);
}

}  // namespace tracso
