#include "commands/stat_look.hpp"

#include "tracso/analysis.hpp"

#include "base/own_agent.hpp"
#include "base/sizes.hpp"
#include "base/text.hpp"
#include "collect/memory_classes.hpp"
#include "commands/sources.hpp"
#include "compare/descriptor_change.hpp"
#include "os/borrowed_sockets.hpp"
#include "os/live_process.hpp"
#include "os/sampler.hpp"
#include "proc/counters.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <memory>
#include <utility>

namespace tracso {
namespace {

constexpr std::size_t heaviest_shown = 5;

// By what they take privately, then resident: file size says least.
bool is_heavier(const Node& one, const Node& other) {
  const auto key = [](const Node& node) {
    return std::pair(node.cost.private_bytes.value_or(0), node.cost.resident.value_or(0));
  };
  return key(one) > key(other);
}

std::vector<NodeId> loaded_libraries(const Trace& trace) {
  std::vector<NodeId> libraries;
  for (std::size_t i = 0; i < trace.graph.nodes().size(); ++i) {
    const Node& node = trace.graph.nodes()[i];
    if (is_counted(node) && is_library(node) && object(node)->loaded) {
      libraries.push_back(static_cast<NodeId>(i));
    }
  }
  return libraries;
}

HeavyLibrary heavy(const Trace& trace, const Summary& summary, NodeId id) {
  const Node& node = trace.graph[id];
  HeavyLibrary out{display_name(node),
                   object(node)->path.text,
                   node.cost.file,
                   node.cost.resident,
                   node.cost.private_bytes,
                   {}};
  for (const NodeId source : summary.sources[index(id)]) {
    out.owners.push_back(display_name(trace.graph[source]));
  }
  return out;
}

void add_libraries(const Trace& trace, Stat& into) {
  const Trace grouped = group_modules(trace, 2);
  const Summary summary = summarize(grouped, ByteKind::private_bytes);
  into.libraries_known = true;
  into.libraries.count = summary.totals.libraries;
  into.libraries.file = summary.totals.file;
  into.libraries.resident = summary.totals.resident;
  into.libraries.private_bytes = summary.totals.private_bytes;
  std::vector<NodeId> libraries = loaded_libraries(grouped);
  for (const NodeId id : libraries) {
    into.library_names.push_back(object(grouped.graph[id])->path.text);
  }
  std::stable_sort(libraries.begin(), libraries.end(), [&](NodeId one, NodeId other) {
    return is_heavier(grouped.graph[one], grouped.graph[other]);
  });
  for (std::size_t i = 0; i < libraries.size() && i < heaviest_shown; ++i) {
    into.heaviest.push_back(heavy(grouped, summary, libraries[i]));
  }
}

// A look at the end of a process: nothing of Python can be asked any more, file names tell.
LookOptions look_options(bool verbose) {
  LookOptions look;
  look.verbose = verbose;
  look.probe = "path";
  look.elf = "auto";
  look.costs = true;
  return look;
}

void add_status(const ProcessSource& process, Stat& into) {
  const auto text = process.read("status");
  if (!text) {
    return;
  }
  const auto memory = proc::parse_memory_status(*text);
  into.peak = memory.peak;
  into.resident = memory.resident;
  into.virtual_ = memory.virtual_;
  // The kernel counts pages per processor and adds them up now and then: the peak that it wrote
  // down can be a little below what is resident.
  if (into.peak && into.resident) {
    into.peak = std::max(*into.peak, *into.resident);
  }
}

// What the agent has reserved is the process's in the kernel's books.
Notice with_its_room(Notice agent, const Stat& stat) {
  if (stat.virtual_.value_or(0) >= own_mirror_bytes) {
    agent.effect =
        fmt::format("{} among the libraries; 'virtual' has {} of address space that it reserves",
                    agent.effect,
                    size_text(own_mirror_bytes));
  }
  return agent;
}

}  // namespace

OpenProcess process_opener() {
  return [](std::int32_t pid) -> std::unique_ptr<ProcessSource> {
    auto process = os::LiveProcess::open(pid);
    return process ? std::move(*process) : nullptr;
  };
}

proc::Borrow descriptor_borrower(std::int32_t pid) {
  auto borrower = os::DescriptorBorrower::open(pid);
  if (!borrower) {
    return nullptr;
  }
  const auto shared = std::make_shared<os::DescriptorBorrower>(std::move(*borrower));
  return [shared](std::int32_t fd, DescriptorKind kind) { return shared->look(fd, kind); };
}

void look_at_costs(std::int32_t thread, Stat& into, bool verbose) {
  const auto live = LiveTarget::open(thread);
  if (!live) {
    into.notices.push_back(
        {"ended", live.error().reason, "nothing could be measured", live.error().hint});
    return;
  }
  const ProcessSource& process = *live->target().process;
  ProblemFacts facts;
  const auto trace = look_at_process(*live, look_options(verbose), into.target, facts);
  add_status(process, into);
  into.activity = collect_activity(process);
  into.threads = collect_threads(process);
  if (!trace) {
    into.notices.push_back({"memory-unreadable",
                            trace.error().reason,
                            "libraries and private bytes are not known",
                            trace.error().hint});
    return;
  }
  // The snapshot has read the sizes first of all: to read memory can bring pages in.
  if (trace->memory) {
    into.memory = trace->memory;
    into.private_bytes = trace->memory->total().private_bytes;
    into.libraries.mapped = (*trace->memory)[MemoryClass::libraries].mapped;
  }
  into.exe = trace->process ? trace->process->exe : trace->interpreter;
  add_libraries(*trace, into);
  for (const Notice& notice : trace->notices) {
    if (notice.code == "costs-unreadable" || notice.code == "costs-unknown") {
      into.notices.push_back(notice);
    } else if (notice.code == "own-agent") {
      into.notices.push_back(with_its_room(notice, into));
    }
  }
}

void add_peak(ChildPeaks& into, std::int32_t pid, const ChildProcess& child) {
  // The kernel writes the peak down now and then; it may be behind what is resident.
  const std::uint64_t peak = std::max(child.peak.value_or(0), child.resident.value_or(0));
  if (peak > into.peak.value_or(0)) {
    into.peak = peak;
    into.pid = pid;
    into.name = child.name;
  }
}

std::optional<std::uint64_t> count_descriptors(std::int32_t pid) {
  const auto sampler = os::Sampler::open(pid);
  const auto look = sampler ? sampler->look() : Result<os::QuickLook>(sampler.error());
  return look ? std::optional(look->descriptors) : std::nullopt;
}

void look_at_tree(std::int32_t thread, Stat& into) {
  TreeTotals tree;
  const auto add = [&](std::int32_t process) {
    const auto door = os::LiveProcess::open(process);
    const auto classes = door ? quick_memory_classes(**door) : Result<QuickClasses>(door.error());
    if (!classes) {
      return false;
    }
    ++tree.processes;
    for (std::size_t i = 0; i < memory_class_count; ++i) {
      tree.memory.uses[i].add(classes->memory.uses[i]);
    }
    return true;
  };
  tree.unread += add(thread) ? 0 : 1;
  tree.descriptors = into.descriptors ? into.descriptors->after : into.descriptor_count.value_or(0);
  tree.threads = into.threads.size();
  for (const ChildProcess& child : into.children) {
    if (child.state == 'Z') {
      continue;
    }
    if (!add(child.pid)) {
      // One that has ended meanwhile takes nothing; one that is another user's does.
      const auto door = os::LiveProcess::open(child.pid);
      tree.unread += door && look_at_child(**door) ? 1 : 0;
      continue;
    }
    const auto sampler = os::Sampler::open(child.pid);
    if (const auto look = sampler ? sampler->look() : Result<os::QuickLook>(sampler.error())) {
      tree.descriptors += look->descriptors;
      tree.threads += look->threads;
    }
  }
  if (tree.unread > 0) {
    into.notices.push_back(
        {"children-unreadable",
         counted(tree.unread, "process", "processes") + " of the tree may not be read",
         "the sums over the tree are too small",
         "run as root"});
  }
  into.tree = std::move(tree);
}

std::optional<DescriptorChange> look_at_descriptors(std::int32_t thread,
                                                    const std::vector<Descriptor>& before,
                                                    std::vector<Notice>& notices) {
  const auto process = os::LiveProcess::open(thread);
  auto all = process ? collect_descriptors(**process, descriptor_borrower(thread), notices)
                     : Result<std::vector<Descriptor>>(process.error());
  if (!all) {
    notices.push_back({"descriptors-unreadable",
                       "its descriptors cannot be listed: " + all.error().reason,
                       "descriptors are not known",
                       all.error().hint.empty() ? "run as its user or as root" : all.error().hint});
    return std::nullopt;
  }
  return compare_descriptors(before, *all);
}

std::optional<std::int64_t> cpu_time_of(std::int32_t pid) {
  clockid_t clock{};
  timespec time{};
  if (::clock_getcpuclockid(pid, &clock) != 0 || ::clock_gettime(clock, &time) != 0) {
    return std::nullopt;
  }
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

std::optional<std::int64_t> children_cpu_time(const ProcessSource& process) {
  const auto text = process.read("stat");
  const auto ticks = text ? proc::parse_cpu_ticks(*text) : std::nullopt;
  const auto per_second = static_cast<std::uint64_t>(std::max(1L, ::sysconf(_SC_CLK_TCK)));
  return ticks ? std::optional(
                     static_cast<std::int64_t>(ticks->children * 1'000'000'000 / per_second))
               : std::nullopt;
}

}  // namespace tracso
