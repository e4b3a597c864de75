#include "python/tracked_objects.hpp"

#include "python/gc_lists.hpp"
#include "python/runtimes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <thread>
#include <utility>

namespace tracso::python {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* counting_objects = "count the Python objects of";
constexpr int walks_running = 6, walks_stopped = 6;
constexpr std::chrono::seconds longest_walk_stopped{2};
constexpr std::chrono::milliseconds between_walks{2};
constexpr std::size_t most_types = 100'000;

// What one pass over all interpreters gave.
struct ObjectWalk {
  TypeSums sums;
  WalkState state = WalkState::whole;
};

}  // namespace

class TrackedObjectReader::Reading {
 public:
  Reading(const ProbeInput& input, Stopper stopper)
      : input_(input),
        process_(*input.target.process),
        stopper_(std::move(stopper)),
        words_(process_, {}),
        blocks_(process_, {}) {}

  Result<TrackedObjects> read();

 private:
  Error error(ErrorKind kind, std::string reason, std::string hint = "") const {
    return {kind,
            counting_objects,
            fmt::format("process {}", process_.pid()),
            std::move(reason),
            std::move(hint)};
  }

  std::optional<Error> find_lists();
  ObjectWalk pass();
  ObjectWalk best_of(int tries, Clock::time_point deadline);
  Result<TrackedObjects> stopped_reading(Clock::time_point deadline);
  TrackedObjects described(const ObjectWalk& pass);

  const ProbeInput& input_;
  const ProcessSource& process_;
  Stopper stopper_;
  MemoryReader words_;  // of names and interpreters
  BlockReader blocks_;  // of objects
  std::vector<LivingRuntime> runtimes_;
  std::vector<std::pair<std::uint64_t, const Layout*>> lists_;  // gc state, how to read it
};

// Asked anew for each reading: an interpreter that has ended or is ending has no sys in its
// modules any more, and its objects are on their way out.
std::optional<Error> TrackedObjectReader::Reading::find_lists() {
  ReadLimits limits;
  limits.deadline = Clock::now() + input_.timeout;
  words_.restart(limits);
  lists_.clear();
  auto living = find_living_runtimes(input_, words_, counting_objects);
  if (!living) {
    return living.error();
  }
  runtimes_ = std::move(*living);
  if (runtimes_.empty()) {
    return error(ErrorKind::not_found, "no Python works in it at this moment");
  }
  for (const LivingRuntime& one : runtimes_) {
    const Layout& layout = one.located.layout;
    Objects objects(words_, layout);
    for (const auto& state : interpreter_states(objects, one.runtime.address)) {
      const auto gc = gc_state_address(blocks_, layout, one.runtime.address, state.address);
      if (!gc) {
        return error(ErrorKind::unsupported,
                     layout.free_threaded
                         ? "a free-threaded Python keeps no lists of its objects"
                         : fmt::format("where Python 3.{} keeps the lists of its objects is not "
                                       "known",
                                       layout.minor));
      }
      const std::pair<std::uint64_t, const Layout*> list{*gc, &layout};
      if (std::find(lists_.begin(), lists_.end(), list) == lists_.end()) {
        lists_.push_back(list);  // 3.8 has one for all interpreters
      }
    }
  }
  return std::nullopt;
}

ObjectWalk TrackedObjectReader::Reading::pass() {
  ObjectWalk all;
  for (const auto& [gc, layout] : lists_) {
    all.state = std::max(all.state, walk_gc_lists(blocks_, *layout, gc, all.sums));
  }
  return all;
}

// The first whole one, else the best.
ObjectWalk TrackedObjectReader::Reading::best_of(int tries, Clock::time_point deadline) {
  BlockLimits limits;
  limits.deadline = deadline;
  ObjectWalk best{{}, WalkState::moved};
  for (int i = 0; i < tries && best.state != WalkState::whole; ++i) {
    blocks_.restart(limits);
    ObjectWalk now = pass();
    if (i == 0 || now.state < best.state) {
      best = std::move(now);
    }
    if (blocks_.exhausted()) {
      break;
    }
  }
  return best;
}

Result<TrackedObjects> TrackedObjectReader::Reading::stopped_reading(Clock::time_point deadline) {
  const std::string reason = "its objects come and go faster than they can be counted";
  if (!stopper_) {
    return error(ErrorKind::interrupted, reason);
  }
  std::chrono::nanoseconds stopped{0};
  for (int tries = 0; tries < walks_stopped && Clock::now() < deadline; ++tries) {
    const auto start = Clock::now();
    auto stop = stopper_(process_.pid());
    if (!stop) {
      return error(stop.error().kind,
                   fmt::format("{}, and it cannot be stopped: {}", reason, stop.error().reason),
                   stop.error().hint);
    }
    const ObjectWalk now = best_of(1, std::min(deadline, start + longest_walk_stopped));
    stop->reset();
    stopped += Clock::now() - start;
    if (now.state == WalkState::whole) {
      auto out = described(now);
      out.stopped = stopped;
      return out;
    }
    // Stopped within a collection or between two links: it must go on a little.
    std::this_thread::sleep_for(between_walks * (1 << tries));
  }
  return error(ErrorKind::interrupted,
               blocks_.exhausted() ? "it has more objects than are ever read"
                                   : "its lists of objects cannot be followed wherever it is "
                                     "stopped");
}

TrackedObjects TrackedObjectReader::Reading::described(const ObjectWalk& pass) {
  TrackedObjects out;
  out.version = version_text(runtimes_.front().located.version);
  out.youngest_moved = pass.state != WalkState::whole;
  Objects objects(words_, runtimes_.front().located.layout);
  std::map<std::string, TypeTotal> by_name;  // a class that was made anew is the same by name
  for (const auto& [type, sum] : pass.sums) {
    out.objects += sum.objects;
    out.bytes += sum.bytes;
    const std::string name = by_name.size() < most_types
                                 ? objects.full_type_name(type).value_or("(unreadable)")
                                 : "(other)";
    TypeTotal& total = by_name[name];
    total.type = name;
    total.objects += sum.objects;
    total.bytes += sum.bytes;
  }
  for (auto& [name, total] : by_name) {
    out.types.push_back(std::move(total));
  }
  return out;
}

Result<TrackedObjects> TrackedObjectReader::Reading::read() {
  const auto deadline = Clock::now() + input_.timeout;
  if (auto failed = find_lists()) {
    return *failed;
  }
  const ObjectWalk running = best_of(walks_running, deadline);
  if (running.state == WalkState::moved) {
    return blocks_.exhausted() ? error(ErrorKind::interrupted,
                                       fmt::format("not counted within {} ms and 1 GB of objects",
                                                   input_.timeout.count()))
                               : stopped_reading(deadline);
  }
  return described(running);
}

TrackedObjectReader::TrackedObjectReader(const ProbeInput& input, Stopper stopper)
    : reading_(std::make_unique<Reading>(input, std::move(stopper))) {}

TrackedObjectReader::~TrackedObjectReader() = default;
TrackedObjectReader::TrackedObjectReader(TrackedObjectReader&&) noexcept = default;
TrackedObjectReader& TrackedObjectReader::operator=(TrackedObjectReader&&) noexcept = default;

Result<TrackedObjects> TrackedObjectReader::read() {
  return reading_->read();
}

}  // namespace tracso::python
