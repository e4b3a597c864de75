#include "commands/measurement.hpp"

#include "base/text.hpp"
#include "commands/output.hpp"
#include "commands/stat_look.hpp"
#include "os/live_process.hpp"
#include "proc/status.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <utility>

namespace tracso {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds short_interval{20};
constexpr milliseconds stream_interval{100};

}  // namespace

launch::RunOptions Measurement::options(bool output_to_stderr) {
  launch::RunOptions options;
  options.argv = request_.argv;
  options.output_to_stderr = output_to_stderr;
  options.breakpoints = false;
  options.trace = request_.trace;
  options.earlier_children = true;
  options.open = [](std::int32_t pid) -> Result<std::unique_ptr<ProcessSource>> {
    auto process = os::LiveProcess::open(pid);
    return process ? Result<std::unique_ptr<ProcessSource>>(std::move(*process))
                   : Result<std::unique_ptr<ProcessSource>>(process.error());
  };
  options.on_executed = [this](const launch::Moment& moment) { executed(moment); };
  options.on_thread_end = [this](const launch::ThreadEnd& end) { thread_ended(end); };
  options.on_child_exit = [this](std::int32_t pid, std::int32_t thread) {
    child_ended(pid, thread);
  };
  options.on_whole = [this](const launch::Moment& moment) { whole(moment); };
  if (attribution_) {
    options.on_python = [this](const launch::Moment& moment) {
      attribution_->look_at_python_moment(moment);
    };
  }
  const bool needs_short = !request_.trace || request_.baseline_after || attribution_;
  options.interval = needs_short    ? short_interval
                     : on_interval_ ? stream_interval
                                    : milliseconds(0);
  options.on_interval = [this](std::int32_t pid) { interval(pid); };
  return options;
}

void Measurement::executed(const launch::Moment& moment) {
  last_threads_.clear();  // exec has ended the other threads
  if (attribution_) {
    attribution_->begin_anew();
  }
  if (sampling_) {
    sampling_->start(moment.pid);
  }
  if (before_) {
    return;
  }
  const auto process = os::LiveProcess::open(moment.pid);
  auto list =
      process ? list_descriptors(**process) : Result<std::vector<Descriptor>>(process.error());
  if (list) {
    before_ = std::move(*list);
    activity_before_ = collect_activity(**process);
    cpu_before_ = cpu_time_of(moment.pid).value_or(0);
    tell(fmt::format("pid {} begins with {}", moment.pid, counted(before_->size(), "descriptor")));
  }
  // The command has not done anything yet: all others are helpers of ours.
  const auto self = os::LiveProcess::open(::getpid());
  for (const std::int32_t child :
       self ? proc::read_children(**self) : std::vector<std::int32_t>()) {
    own_children_.insert(child);
  }
}

void Measurement::thread_ended(const launch::ThreadEnd& end) {
  const auto process = os::LiveProcess::open(end.pid);
  const std::string task = "task/" + std::to_string(end.thread);
  if (!process) {
    return;
  }
  if (const auto status = (*process)->read(task + "/status")) {
    if (const auto switches = proc::parse_switches(*status)) {
      ended_switches_ = ended_switches_.value_or(proc::Switches{});
      ended_switches_->voluntary += switches->voluntary;
      ended_switches_->forced += switches->forced;
    }
  }
  const auto name =
      end.with_process ? (*process)->read(task + "/comm") : Result<std::string>(Error{});
  if (name) {
    last_threads_[end.thread] = {end.thread, std::string(trim(*name))};
  }
}

void Measurement::child_ended(std::int32_t pid, std::int32_t thread) {
  const auto process = os::LiveProcess::open(thread);
  const auto child = process ? look_at_child(**process) : std::nullopt;
  if (child && child->peak) {
    ++child_peaks_.ended;
    add_peak(child_peaks_, pid, *child);
  }
}

// Children of ours that we have not started: the command's, whose parents have ended.
void Measurement::take_orphans(std::int32_t command) {
  const auto self = os::LiveProcess::open(::getpid());
  if (!self || !taken_) {
    return;
  }
  const OpenProcess open = process_opener();
  for (ChildProcess child : collect_descendants(**self, open)) {
    const bool known = std::any_of(taken_->children.begin(),
                                   taken_->children.end(),
                                   [&](const ChildProcess& one) { return one.pid == child.pid; });
    if (child.parent == ::getpid() && child.pid != command && !known &&
        own_children_.count(child.pid) == 0) {
      child.orphan = true;
      taken_->children.push_back(child);
    }
  }
}

void Measurement::whole(const launch::Moment& moment) {
  Stat stat;
  stat.target = fmt::format("run:{}:{}", base_name(request_.argv.front()), moment.pid);
  stat.pid = moment.pid;
  stat.moment = launch::moment_name(moment.kind);
  stat.exact = moment.kind == launch::MomentKind::exit_stop;
  const std::int32_t thread = moment.thread != 0 ? moment.thread : moment.pid;
  if (const auto cpu = cpu_time_of(moment.pid)) {
    stat.cpu_ns = *cpu - cpu_before_;
  }
  if (attribution_) {
    attribution_->look(thread, {}, stat.exact ? stat.moment : "look");
  }
  look_at_costs(thread, stat, request_.verbose);
  stat.descriptors =
      look_at_descriptors(thread, before_.value_or(std::vector<Descriptor>()), stat.notices);
  if (const auto process = os::LiveProcess::open(moment.pid)) {
    stat.children = collect_descendants(**process, process_opener());
    stat.children_cpu_ns = children_cpu_time(**process);
  }
  if (stat.descriptors) {
    stat.descriptor_count = stat.descriptors->after;
  }
  taken_ = std::move(stat);
  take_orphans(moment.pid);
  if (request_.children) {
    look_at_tree(thread, *taken_);
  }
  tell(fmt::format("{} at {}: {}, {} left",
                   taken_->target,
                   taken_->moment,
                   counted(taken_->descriptor_count.value_or(0), "descriptor"),
                   counted(taken_->children.size(), "child", "children")));
}

void Measurement::tell(const std::string& line) const {
  if (request_.verbose) {
    say(line);
  }
}

// Without a tracer nobody stops it at its end: what counts is the last look before.
void Measurement::look_from_afar(std::int32_t pid) {
  if (!before_) {
    executed({launch::MomentKind::last_look, pid, pid, {}, false});
  }
  if (!taken_) {
    return;
  }
  const auto process = os::LiveProcess::open(pid);
  const auto status = process ? (*process)->read("status") : Result<std::string>(Error{});
  const auto memory = status ? proc::parse_memory_status(*status) : proc::MemoryStatus{};
  if (!memory.resident) {
    return;  // a zombie has none
  }
  taken_->peak = std::max(memory.peak, taken_->peak);
  taken_->resident = memory.resident;
  taken_->virtual_ = memory.virtual_;
  taken_->threads = collect_threads(**process);
  taken_->activity = collect_activity(**process);
  taken_->children = collect_descendants(**process, process_opener());
  std::vector<Notice> ignored;
  if (auto change = look_at_descriptors(pid, *before_, ignored)) {
    taken_->descriptors = std::move(change);
  }
  if (const auto cpu = cpu_time_of(pid)) {
    taken_->cpu_ns = *cpu - cpu_before_;
  }
  take_orphans(pid);
  for (const ChildProcess& child : taken_->children) {
    add_peak(child_peaks_, child.pid, child);  // nobody will tell of its end
  }
  if (request_.children) {
    std::erase_if(taken_->notices,
                  [](const Notice& notice) { return notice.code == "children-unreadable"; });
    look_at_tree(pid, *taken_);
  }
}

void Measurement::interval(std::int32_t pid) {
  const auto age = std::chrono::steady_clock::now() - begin_;
  if (request_.baseline_after && !after_warm_up_ && age >= *request_.baseline_after) {
    const auto process = os::LiveProcess::open(pid);
    auto list =
        process ? list_descriptors(**process) : Result<std::vector<Descriptor>>(process.error());
    if (list) {
      before_ = std::move(*list);
      after_warm_up_ = true;
    }
  }
  if (!request_.trace) {
    look_from_afar(pid);
  }
  if (attribution_) {
    attribution_->look_if_due(pid);
  }
  if (on_interval_) {
    on_interval_(pid);
  }
}

Stat Measurement::assemble(const launch::RunResult& result) {
  Stat stat;
  if (taken_) {
    stat = std::move(*taken_);
  } else {
    stat.pid = result.pid;
    stat.target = fmt::format("run:{}:{}", base_name(request_.argv.front()), result.pid);
    stat.moment = "none";
    stat.exact = false;
    stat.notices.push_back({"not-measured",
                            "the command ended before it could be looked at",
                            "its memory and descriptors are not known",
                            "without --no-ptrace it is stopped at its end"});
  }
  stat.command = CommandInfo{request_.argv, result.exit_status, result.signal, result.wall.count()};
  stat.wall_ns = result.wall.count();
  stat.children_born = result.children.size();
  stat.threads_before = 1;
  stat.child_peaks = child_peaks_;
  for (const ChildProcess& child : stat.children) {
    add_peak(stat.child_peaks, child.pid, child);
  }
  const std::size_t seen = child_peaks_.ended + stat.children.size();
  stat.child_peaks.not_seen = stat.children_born - std::min(stat.children_born, seen);
  return stat;
}

// Why --attribution may have no look at the last whole moment of a Python.
std::string Measurement::why_no_end(const launch::RunResult& result) const {
  return !request_.trace ? "without ptrace nothing tells that it is about to end"
         : !result.python_watched
             ? "no Python was among the libraries that the program began with, so its end is not "
               "seen"
             : "its Python could not be read when it was about to end";
}

StatRun Measurement::finish(const launch::RunResult& result) {
  StatRun run{assemble(result), result.interrupted_by};
  Stat& stat = run.stat;
  if (!last_threads_.empty() && stat.exact) {
    stat.threads.clear();
    for (const auto& [tid, thread] : last_threads_) {
      stat.threads.push_back(thread);
    }
  }
  if (ended_switches_ && stat.exact) {
    stat.activity.voluntary_switches = ended_switches_->voluntary;
    stat.activity.forced_switches = ended_switches_->forced;
  }
  stat.activity = activity_since(stat.activity, activity_before_);
  if (attribution_) {
    attribution_->end(why_no_end(result));
    add_attribution(*attribution_, stat);
  }
  if (sampling_) {
    add_samples(sampling_->stop(), stat);
  }
  if (request_.baseline_after && !after_warm_up_) {
    stat.notices.push_back({"warm-up-not-reached",
                            "the command ended before the time of --baseline-after",
                            "descriptors are compared with its start",
                            "a shorter --baseline-after"});
  }
  if (!request_.trace) {
    stat.notices.push_back({"not-traced",
                            "the command was not traced, as --no-ptrace asks",
                            "its figures are from the last look before it ended",
                            ""});
  }
  stat.notices.insert(stat.notices.end(), result.notices.begin(), result.notices.end());
  return run;
}

}  // namespace tracso
