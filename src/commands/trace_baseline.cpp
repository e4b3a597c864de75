#include "commands/trace_baseline.hpp"

#include "base/text.hpp"
#include "commands/baseline_file.hpp"

#include <fmt/format.h>

namespace tracso {
namespace {

// Of a FILE nothing runs: its libraries are all that can be told.
Measured measured(const Trace& trace, const Summary& summary) {
  Measured now;
  now.measurable = {"libs"};
  now.figures.libs = summary.totals.libraries;
  if (trace.process) {
    now.measurable = {"rss", "dirty", "libs"};
  }
  if (trace.memory) {
    const MemoryUse all = trace.memory->total();
    now.figures.rss = all.resident;
    now.figures.dirty = all.dirty;
  }
  return now;
}

// Those that came and went count too, as for --deny.
std::vector<std::string> library_paths(const Trace& trace) {
  std::vector<std::string> paths;
  for (const Node& node : trace.graph.nodes()) {
    if (is_counted(node) && !object(node)->path.text.empty() &&
        object(node)->first_cause != "not reached") {
      paths.push_back(object(node)->path.text);
    }
  }
  return paths;
}

}  // namespace

Result<std::optional<Baseline>> read_asked_baseline(const BaselineRequest& request) {
  if (!request.compare) {
    return std::optional<Baseline>();
  }
  auto baseline = read_baseline(*request.compare);
  return baseline ? Result<std::optional<Baseline>>(std::optional(std::move(*baseline)))
                  : Result<std::optional<Baseline>>(baseline.error());
}

std::vector<std::string> failed_baseline(const Trace& trace,
                                         const Summary& summary,
                                         const Baseline& baseline,
                                         const Tolerances& tolerances) {
  std::vector<std::string> lines;
  const auto budgets =
      check_baseline(baseline, tolerances, measured(trace, summary), library_paths(trace));
  for (const Budget& budget : budgets) {
    if (!budget.ok) {
      lines.push_back(fmt::format("{} {}: {}", budget.name, budget.limit, printable(budget.text)));
    }
  }
  return lines;
}

Result<Done> save_asked_baseline(const Trace& trace,
                                 const Summary& summary,
                                 const BaselineRequest& request) {
  const auto& file = request.save;
  if (!file) {
    return Done{};
  }
  if (trace.partial) {
    return Error{ErrorKind::interrupted,
                 "write the baseline",
                 *file,
                 fmt::format("{} ended while tracso looked", trace.target),
                 "tracso --save-baseline FILE --run CMD looks at the last whole moment"};
  }
  return write_baseline(*file,
                        trace.command ? join(trace.command->argv, " ") : trace.target,
                        measured(trace, summary).figures,
                        library_paths(trace));
}

}  // namespace tracso
