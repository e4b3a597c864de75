#include "commands/trace_baseline.hpp"

#include "base/text.hpp"
#include "collect/memory_classes.hpp"
#include "commands/baseline_file.hpp"
#include "os/live_process.hpp"

#include <fmt/format.h>

namespace tracso {
namespace {

// Of a FILE nothing runs, and a saved trace does not say what its process took: their libraries are
// all that can be told. Of a command `tracso stat` tells the rest.
Measured measured(const Summary& summary,
                  const std::optional<MemoryUse>& memory,
                  const TraceSource& source) {
  Measured now;
  now.measurable = {"libs"};
  now.figures.libs = summary.totals.libraries;
  if (std::holds_alternative<PidSource>(source)) {
    now.measurable = {"rss", "dirty", "libs"};
  }
  if (memory) {
    now.figures.rss = memory->resident;
    now.figures.dirty = memory->dirty;
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

std::optional<MemoryUse> memory_for_baseline(const TraceRequest& request) {
  const auto* source = std::get_if<PidSource>(&request.source);
  if (source == nullptr || (!request.baseline.save && !request.baseline.compare)) {
    return std::nullopt;
  }
  const auto process = os::LiveProcess::open(source->pid);
  const auto classes =
      process ? quick_memory_classes(**process) : Result<QuickClasses>(process.error());
  return classes ? std::optional(classes->memory.total()) : std::nullopt;
}

std::vector<std::string> failed_baseline(const Trace& trace,
                                         const Summary& summary,
                                         const std::optional<MemoryUse>& memory,
                                         const TraceRequest& request,
                                         const Baseline& baseline) {
  std::vector<std::string> lines;
  const auto budgets = check_baseline(baseline,
                                      request.baseline.tolerances,
                                      measured(summary, memory, request.source),
                                      library_paths(trace));
  for (const Budget& budget : budgets) {
    if (!budget.ok) {
      lines.push_back(fmt::format("{} {}: {}", budget.name, budget.limit, printable(budget.text)));
    }
  }
  return lines;
}

Result<Done> save_asked_baseline(const Trace& trace,
                                 const Summary& summary,
                                 const std::optional<MemoryUse>& memory,
                                 const TraceRequest& request) {
  const auto& file = request.baseline.save;
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
                        measured(summary, memory, request.source).figures,
                        library_paths(trace));
}

}  // namespace tracso
