#include "commands/stat_run.hpp"

#include "collect/memory_classes.hpp"
#include "commands/attribution.hpp"
#include "commands/measurement.hpp"
#include "commands/memory_sampling.hpp"
#include "commands/progress.hpp"
#include "commands/python.hpp"
#include "commands/stat_look.hpp"
#include "commands/working_set.hpp"
#include "os/live_process.hpp"
#include "os/sampler.hpp"

#include <fmt/format.h>

#include <sys/prctl.h>

#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace tracso {
namespace {

// --reset-peak: VmHWM begins anew (proc_pid_clear_refs(5)).
void reset_peak(std::int32_t pid, std::vector<Notice>& notices) {
  if (const auto done = os::reset_peak(pid); !done) {
    notices.push_back({"peak-not-reset",
                       "the peak could not be reset: " + done.error().reason,
                       "the peak is since the start of the program",
                       "run as its user or as root"});
  }
}

void wait_between_looks(const StatRequest& request) {
  std::optional<Progress> progress;
  if (!request.stream) {  // whose samples may go to the same terminal
    progress.emplace(fmt::format("between two looks at process {}, {:g} s",
                                 request.pid,
                                 std::chrono::duration<double>(*request.watch_for).count()));
  }
  std::this_thread::sleep_for(*request.watch_for);
}

}  // namespace

Result<StatRun> run_for_stat(const StatRequest& request,
                             bool output_to_stderr,
                             const std::function<void(std::int32_t pid)>& on_interval) {
  // Who loses its parent meanwhile becomes a child of ours, not of init: so it can be told.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  Measurement measurement(request, on_interval);
  const auto result = launch::run_command(measurement.options(output_to_stderr));
  if (!result) {
    return result.error();
  }
  return measurement.finish(*result);
}

Result<Stat> look_for_stat(const StatRequest& request) {
  const auto process = os::LiveProcess::open(request.pid);
  if (!process) {
    return process.error();
  }
  if (const auto sampler = os::Sampler::open(request.pid); !sampler) {
    return sampler.error();
  }
  Stat stat;
  stat.target = fmt::format("pid:{}", request.pid);
  stat.pid = request.pid;
  stat.moment = "look";
  if (request.reset_peak) {
    reset_peak(request.pid, stat.notices);
  }
  if (request.watch_for) {
    if (const auto classes = quick_memory_classes(**process)) {
      stat.memory_before = classes->memory;
    }
  }
  auto before = list_descriptors(**process);
  const std::size_t threads = collect_threads(**process).size();
  const Activity activity = collect_activity(**process);
  const auto cpu = cpu_time_of(request.pid);
  std::optional<AttributionLooks> attribution;
  if (request.attribution) {
    attribution.emplace(*request.attribution);
    attribution->look(request.pid, thread_holder());
  }
  std::optional<MemorySampling> sampling;
  if (request.sample) {
    sampling.emplace(*request.sample);
    sampling->start(request.pid);
  }
  const bool used = request.used && begin_working_set(request.pid, stat.notices);
  const auto begin = std::chrono::steady_clock::now();
  if (request.watch_for) {
    wait_between_looks(request);
    if (used) {  // before anything of it is read by us: that touches pages too
      const auto window = std::chrono::steady_clock::now() - begin;
      stat.used = end_working_set(**process, window.count(), stat.notices);
    }
    if (attribution) {
      attribution->look(request.pid, thread_holder());
    }
  }
  look_at_costs(request.pid, stat, request.verbose);
  if (!stat.resident) {
    return Error{ErrorKind::interrupted,
                 "look at process",
                 std::to_string(request.pid),
                 "it has ended",
                 "'ps -ef' lists processes"};
  }
  stat.descriptors =
      look_at_descriptors(request.pid, before ? *before : std::vector<Descriptor>(), stat.notices);
  stat.descriptor_count =
      stat.descriptors ? stat.descriptors->after : count_descriptors(request.pid);
  stat.children = collect_descendants(**process, process_opener());
  for (const ChildProcess& child : stat.children) {
    add_peak(stat.child_peaks, child.pid, child);
  }
  if (request.children) {
    look_at_tree(request.pid, stat);
  }
  if (attribution) {
    add_attribution(*attribution, stat);
  }
  if (sampling) {
    add_samples(sampling->stop(), stat);
  }
  stat.children_cpu_ns = children_cpu_time(**process);
  stat.threads_before = threads;
  stat.cpu_ns = cpu_time_of(request.pid);
  if (request.watch_for) {
    stat.activity = activity_since(stat.activity, activity);
    stat.cpu_ns = stat.cpu_ns && cpu ? std::optional(*stat.cpu_ns - *cpu) : std::nullopt;
    stat.wall_ns = (std::chrono::steady_clock::now() - begin).count();
  }
  return stat;
}

}  // namespace tracso
