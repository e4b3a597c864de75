// A process, read top to bottom: facts first, then nodes, then edges. Whatever fails after the
// first step costs a part of the answer and is said in a notice; nothing here aborts.

#include "tracso/snapshot.hpp"

#include "tracso/problem_facts.hpp"

#include "base/text.hpp"
#include "collect/bindings.hpp"
#include "collect/children.hpp"
#include "collect/costs.hpp"
#include "collect/dlopen_hints.hpp"
#include "collect/labels.hpp"
#include "collect/needed_edges.hpp"
#include "collect/objects.hpp"
#include "collect/preloads.hpp"
#include "collect/problem_facts.hpp"
#include "collect/python_modules.hpp"
#include "collect/readers.hpp"
#include "collect/rewritten.hpp"
#include "collect/start_facts.hpp"
#include "collect/workspace.hpp"

#include <fmt/format.h>

namespace tracso {
namespace {

void describe_process(Workspace& work) {
  ProcessInfo process;
  process.pid = work.target.process->pid();
  process.start_time = work.facts.stat.start_time;
  process.command = work.facts.command;
  process.exe = work.executable ? work.mapped.objects[*work.executable].path.text : work.facts.exe;
  work.trace.interpreter = process.exe;
  work.trace.process = std::move(process);
}

// The number may have gone to another process while we read.
void check_still_there(Workspace& work) {
  const auto text = work.target.process->read("stat");
  const auto stat = text ? proc::parse_stat(*text) : std::nullopt;
  if (!text && text.error().kind == ErrorKind::failed) {  // of our own making: no open file left
    work.trace.notices.push_back(
        {"target-unchecked",
         "whether the process still runs could not be asked: " + text.error().reason,
         "what stands here may be incomplete",
         text.error().hint});
    return;
  }
  const bool ended = !stat || stat->state == 'Z' || stat->state == 'X';
  if (ended || stat->start_time != work.facts.stat.start_time) {
    work.trace.partial = true;
    work.trace.notices.push_back({"target-ended",
                                  "the process ended while tracso looked",
                                  "what had been read until then stands here; the rest is missing",
                                  "tracso --run CMD looks at the last whole moment"});
  }
}

// What a program got from the kernel when it began: another one got other addresses. Empty where it
// may not be read.
std::string program_image(const ProcessSource& process) {
  const auto auxv = process.read("auxv");
  return auxv ? *auxv : "";
}

struct More {
  const FactsOptions& wanted;
  ProblemFacts* facts;  // null: nobody asks
};

Result<Trace> look_once(const Target& target, const SnapshotOptions& options, const More& more) {
  const auto reader = make_reader(options, target);
  Workspace work{target, options, *reader, {}, {}, {}, {}, {}, {}, {}, {}, {}};
  work.trace.target =
      options.label.empty() ? fmt::format("pid:{}", target.process->pid()) : options.label;

  const auto costs =
      options.costs ? std::optional(read_mapping_costs(*target.process)) : std::nullopt;

  // Nothing else works without the memory map: the only step whose failure is an Error.
  auto facts = read_process_facts(
      target, costs && *costs ? **costs : std::vector<proc::MappingCost>(), work.trace.notices);
  if (!facts) {
    return facts.error();
  }
  work.facts = std::move(*facts);

  collect_objects(work);
  if (work.mapped.reader_error) {
    return *work.mapped.reader_error;  // the user asked for this reader by name
  }
  mark_rewritten(work);
  describe_process(work);
  add_object_nodes(work);
  // Beyond this point no new mapped object is added.
  if (options.costs) {
    add_memory_costs(work, *costs);
  }
  if (options.relocations) {
    add_relocation_costs(work);
  }

  const StartFacts start = find_start_facts(work);
  add_preloads(work, start.environment);
  collect_python_modules(work);
  // Beyond this point no new source is added.

  add_needed_edges(work);
  add_root_edges(work);
  mark_baseline(work.trace.graph);
  label_edges(work, start);
  if (options.dlopen_hints) {
    add_dlopen_hints(work);
  }
  if (more.facts != nullptr) {
    *more.facts = {};
    collect_problem_facts(work, start.environment, more.wanted, *more.facts);
    collect_bindings(work, more.wanted, *more.facts);
  }
  collect_children(work);
  note_reader_fallbacks(*reader, work.trace.notices);
  check_still_there(work);
  return std::move(work.trace);
}

Result<Trace> take(const Target& target, const SnapshotOptions& options, const More& more) {
  constexpr int most_looks = 4;
  for (int look = 1;; ++look) {
    const std::string before = program_image(*target.process);
    auto trace = look_once(target, options, more);
    // After an exec the maps of one program stand beside the memory of another: look again.
    const std::string after = program_image(*target.process);
    if (before == after || after.empty()) {
      return trace;
    }
    if (look == most_looks) {
      if (trace) {
        trace->partial = true;
        trace->notices.push_back({"program-changed",
                                  "the process ran one program after another while tracso looked",
                                  "what stands here may be of two programs",
                                  "look again"});
      }
      return trace;
    }
  }
}

}  // namespace

Result<Trace> take_snapshot(const Target& target, const SnapshotOptions& options) {
  return take(target, options, {{}, nullptr});
}

Result<Trace> take_snapshot(const Target& target,
                            const SnapshotOptions& options,
                            const FactsOptions& wanted,
                            ProblemFacts& facts) {
  return take(target, options, {wanted, &facts});
}

}  // namespace tracso
