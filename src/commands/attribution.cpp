#include "commands/attribution.hpp"

#include "collect/memory_classes.hpp"
#include "commands/sources.hpp"
#include "proc/maps.hpp"
#include "python/runtimes.hpp"
#include "python/traced_lines.hpp"
#include "python/tracked_objects.hpp"

#include <algorithm>
#include <ctime>
#include <utility>
#include <vector>

namespace tracso {
namespace {

constexpr std::chrono::milliseconds shortest_interval{20};
constexpr int share = 10;  // of our processor time looks take one part
constexpr std::chrono::milliseconds longest_look{5000};

std::chrono::nanoseconds cpu_time() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

Result<std::vector<python::LivingRuntime>> living_runtimes(const ProbeInput& input) {
  python::ReadLimits limits;
  limits.deadline = std::chrono::steady_clock::now() + longest_look;
  python::MemoryReader memory(*input.target.process, limits);
  return python::find_living_runtimes(input, memory, "look at the Python of");
}

bool works(const ProbeInput& input) {
  const auto living = living_runtimes(input);
  return living && !living->empty();
}

}  // namespace

std::optional<ProbeInput> AttributionLooks::input_of(const LiveTarget& live) {
  ProbeInput input;
  input.target = live.target();
  input.timeout = longest_look;
  const auto text = input.target.process->read("maps");
  auto mappings = text ? proc::parse_maps(*text) : Result<std::vector<Mapping>>(text.error());
  if (!mappings) {
    return std::nullopt;
  }
  input.mappings = std::move(*mappings);
  if (const auto exe = input.target.process->read_link("exe")) {
    input.executable = *exe;
  }
  return input;
}

// What is not readable at this moment makes the look none; what this Python will never tell is
// said once, at the end. An interpreter that began to end meanwhile drops its objects, and then
// looks like one of no known version: so it is asked again whether it works.
bool AttributionLooks::look_at_python(const ProbeInput& input,
                                      const python::Stopper& stopper,
                                      AttributionLook& into) {
  auto lines = python::read_traced_lines(input);
  auto objects = depth_ == AttributionDepth::objects
                     ? python::TrackedObjectReader(input, stopper).read()
                     : Result<TrackedObjects>(Error{ErrorKind::unsupported, "", "", "", ""});
  if (!works(input)) {
    return false;
  }
  if (lines) {
    into.lines = std::move(*lines);
  } else {
    looks_.no_lines = lines.error().reason;
  }
  if (objects) {
    into.objects = std::move(*objects);
    return true;
  }
  looks_.no_objects = objects.error().reason;
  return objects.error().kind == ErrorKind::unsupported;
}

// Whether its Python works is asked first: what it takes before is not its own yet.
void AttributionLooks::take(const LiveTarget& live,
                            const python::Stopper& stopper,
                            std::string_view moment) {
  const auto input = input_of(live);
  if (!input) {
    return;
  }
  const auto living = living_runtimes(*input);
  const auto classes = quick_memory_classes(*input->target.process);
  if (!classes || classes->memory.total().resident == 0) {
    return;  // it has ended
  }
  AttributionLook now;
  now.at_ns = (Clock::now() - begin_).count();
  now.moment = moment;
  now.memory = classes->memory;
  Looks* into = &looks_;
  if (classes->is_python) {
    now.python_blocks = classes->python_blocks;
    if (looks_.first && !looks_.first->python_blocks) {
      begin_anew();  // that was before its Python was even mapped
    }
    if (!living && moment != any_moment && moment != "exit stop") {
      into->no_objects = into->no_lines = living.error().reason;  // it works, and cannot be read
    } else if (!living) {
      into = &unclear_;
      into->no_objects = into->no_lines =
          "its Python was not at work at any look (it began or ended, or: " +
          living.error().reason + "); a command that lives longer, or stat -p PID, can be told";
    } else if (living->empty() || !look_at_python(*input, stopper, now)) {
      return;
    }
  }
  (into->first ? into->last : into->first) = std::move(now);
}

void AttributionLooks::look(std::int32_t thread,
                            const python::Stopper& stopper,
                            std::string_view moment) {
  if (complete_) {
    return;
  }
  const auto start = cpu_time();
  if (const auto live = LiveTarget::open(thread)) {
    take(*live, stopper, moment);
  }
  due_ = Clock::now() +
         std::max<Clock::duration>(shortest_interval, (cpu_time() - start) * (share - 1));
}

void AttributionLooks::look_at_python_moment(const launch::Moment& moment) {
  const auto begin = Clock::now();
  const std::string_view name = launch::moment_name(moment.kind);
  if (moment.kind == launch::MomentKind::python_begin) {
    begin_anew();  // what was seen before is its start
  }
  look(moment.thread, {}, name);
  const auto& latest = looks_.last ? looks_.last : looks_.first;
  complete_ = moment.kind == launch::MomentKind::python_end && latest && latest->moment == name;
  held_ += Clock::now() - begin;
}

void AttributionLooks::look_if_due(std::int32_t pid) {
  if (Clock::now() >= due_) {
    look(pid, {});
  }
}

std::optional<Attribution> AttributionLooks::result() const {
  const auto& [first, last, no_objects, no_lines] = looks_.first ? looks_ : unclear_;
  if (!first) {
    return std::nullopt;
  }
  Attribution out = last ? compare_looks(first, *last) : compare_looks(std::nullopt, *first);
  const AttributionLook& latest = last ? *last : *first;
  out.stopped += held_;
  if (latest.moment == any_moment && !untold_end_.empty()) {
    out.not_told.push_back("what came after the last look: " + untold_end_);
  }
  if (!latest.python_blocks) {
    out.not_told.emplace_back("it is no Python: objects and lines are not told");
    return out;
  }
  if (depth_ == AttributionDepth::objects && !latest.objects) {
    out.not_told.push_back("objects by type: " + no_objects);
  }
  if (!latest.lines) {
    out.not_told.push_back("lines: " + no_lines);
  }
  return out;
}

void add_attribution(const AttributionLooks& looks, Stat& into) {
  into.attribution = looks.result();
  if (!into.attribution) {
    into.notices.push_back({"attribution-not-measured",
                            "it ended before its memory could be looked at, or may not be read",
                            "what fills it is not known",
                            ""});
  }
}

}  // namespace tracso
