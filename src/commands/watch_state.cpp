#include "commands/watch_state.hpp"

#include "base/text.hpp"
#include "collect/descriptors.hpp"
#include "collect/memory_classes.hpp"
#include "commands/stat_look.hpp"
#include "compare/descriptor_change.hpp"
#include "os/live_process.hpp"
#include "proc/counters.hpp"
#include "proc/maps.hpp"
#include "render/descriptor_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tracso {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t most_samples = 3600;
constexpr std::size_t most_events = 1000;
constexpr milliseconds libraries_interval{1000};
constexpr milliseconds classes_interval{5000};
// A list of very many descriptors takes its time: only their number is followed.
constexpr std::uint64_t most_listed = 4096;
// No more than a fiftieth of the time is spent on what stops the process' memory from changing.
constexpr int rest = 50;

std::set<std::string> libraries_of(std::string_view maps) {
  std::set<std::string> libraries;
  const auto mappings = proc::parse_maps(maps);
  if (mappings) {
    for (const Mapping& mapping : *mappings) {
      if (mapping.executable && mapping.has_file()) {
        libraries.insert(mapping.name);
      }
    }
  }
  return libraries;
}

std::map<std::int32_t, std::string> names_of(const std::vector<ThreadInfo>& threads) {
  std::map<std::int32_t, std::string> names;
  for (const ThreadInfo& thread : threads) {
    names.emplace(thread.tid, thread.name);
  }
  return names;
}

}  // namespace

WatchState::WatchState(os::Sampler sampler, std::unique_ptr<ProcessSource> process, bool children)
    : sampler_(std::move(sampler)), process_(std::move(process)), with_children_(children) {
  const auto name = process_->read("comm");
  name_ = name ? std::string(trim(*name)) : "";
  const auto limits = process_->read("limits");
  limit_ = limits ? proc::parse_descriptor_limit(*limits) : std::nullopt;
}

Result<std::unique_ptr<WatchState>> WatchState::open(std::int32_t pid, bool children) {
  auto process = os::LiveProcess::open(pid);
  if (!process) {
    return process.error();
  }
  auto sampler = os::Sampler::open(pid);
  if (!sampler) {
    return sampler.error();
  }
  return std::unique_ptr<WatchState>(
      new WatchState(std::move(*sampler), std::move(*process), children));
}

double WatchState::since_begin() const {
  return std::chrono::duration<double>(Clock::now() - begin_).count();
}

void WatchState::tell(std::vector<WatchEvent>& events, std::string what, std::string text) const {
  events.push_back({since_begin(), std::move(what), std::move(text)});
}

void WatchState::look_at_libraries(std::vector<WatchEvent>& events) {
  if (Clock::now() < next_libraries_) {
    return;
  }
  next_libraries_ = Clock::now() + libraries_interval;
  const auto maps = process_->read("maps");
  if (!maps) {
    return;
  }
  std::set<std::string> now = libraries_of(*maps);
  if (libraries_) {
    for (const std::string& path : now) {
      if (libraries_->count(path) == 0) {
        tell(events, "library-loaded", path);
      }
    }
    for (const std::string& path : *libraries_) {
      if (now.count(path) == 0) {
        tell(events, "library-unloaded", path);
      }
    }
  }
  libraries_ = std::move(now);
}

void WatchState::look_at_descriptors(std::vector<WatchEvent>& events) {
  const std::uint64_t count = samples_.back().look.descriptors;
  if (count > most_listed) {
    descriptors_.reset();
    return;
  }
  auto now = list_descriptors(*process_);
  if (!now) {
    return;
  }
  if (descriptors_) {
    DescriptorChange change = compare_descriptors(*descriptors_, *now);
    if (!change.opened.empty()) {
      std::vector<Notice> ignored;
      if (const auto all = collect_descriptors(*process_, descriptor_borrower(pid()), ignored)) {
        change = compare_descriptors(*descriptors_, *all);
      }
    }
    for (const Descriptor& one : change.opened) {
      tell(events, "descriptor-opened", descriptor_phrase(one));
    }
    for (const Descriptor& one : change.closed) {
      tell(events, "descriptor-closed", descriptor_phrase(one));
    }
  }
  descriptors_ = std::move(*now);
}

void WatchState::look_at_threads(std::vector<WatchEvent>& events) {
  auto now = names_of(collect_threads(*process_));
  if (threads_) {
    for (const auto& [tid, name] : now) {
      if (threads_->count(tid) == 0) {
        tell(events, "thread-started", fmt::format("{} {}", tid, name));
      }
    }
    for (const auto& [tid, name] : *threads_) {
      if (now.count(tid) == 0) {
        tell(events, "thread-ended", fmt::format("{} {}", tid, name));
      }
    }
  }
  threads_ = std::move(now);
}

void WatchState::look_at_classes() {
  const auto begin = Clock::now();
  if (begin < next_classes_) {
    return;
  }
  const auto classes = quick_memory_classes(*process_);
  const auto end = Clock::now();
  next_classes_ = begin + std::max<Clock::duration>(classes_interval, (end - begin) * rest);
  if (!classes) {
    return;
  }
  classes_ = classes->memory;
  classes_at_ = since_begin();
  is_python_ = classes->is_python;
  for (std::size_t i = 0; i < memory_class_count; ++i) {
    history_[i].push_back({since_begin(), static_cast<double>(classes_->uses[i].resident)});
    if (history_[i].size() > most_samples) {
      history_[i].erase(history_[i].begin());
    }
  }
}

void WatchState::look_at_children(WatchSample& sample, std::vector<WatchEvent>& events) {
  std::map<std::int32_t, std::string> now;
  for (const ChildProcess& child : collect_descendants(*process_, process_opener())) {
    now.emplace(child.pid, child.name);
    sample.children_resident += child.resident.value_or(0);
  }
  sample.children = now.size();
  if (children_) {
    for (const auto& [child, name] : now) {
      if (children_->count(child) == 0) {
        tell(events, "child-started", fmt::format("{} {}", child, name));
      }
    }
    for (const auto& [child, name] : *children_) {
      if (now.count(child) == 0) {
        tell(events, "child-ended", fmt::format("{} {}", child, name));
      }
    }
  }
  children_ = std::move(now);
}

Result<std::vector<WatchEvent>> WatchState::look() {
  const auto quick = sampler_.look();
  if (!quick) {
    return quick.error();
  }
  std::vector<WatchEvent> events;
  WatchSample sample;
  sample.seconds = since_begin();
  ++looks_;
  sample.look = *quick;
  if (!samples_.empty()) {
    const WatchSample& before = samples_.back();
    const double time = std::chrono::duration<double>(quick->at - before.look.at).count();
    const double used = std::chrono::duration<double>(quick->cpu - before.look.cpu).count();
    sample.cpu_share = time > 0 ? used / time : 0;
  }
  look_at_classes();
  if (classes_) {
    sample.private_bytes = classes_->total().private_bytes;
  }
  if (with_children_) {
    look_at_children(sample, events);
  }
  samples_.push_back(std::move(sample));
  if (samples_.size() > most_samples) {
    samples_.pop_front();
  }
  look_at_libraries(events);
  look_at_descriptors(events);
  look_at_threads(events);
  events_.insert(events_.end(), events.begin(), events.end());
  while (events_.size() > most_events) {
    events_.pop_front();
  }
  return events;
}

std::optional<double> WatchState::descriptor_forecast() const {
  if (!limit_ || samples_.empty()) {
    return std::nullopt;
  }
  std::vector<Sample> counts;
  for (const WatchSample& one : samples_) {
    counts.push_back({one.seconds, static_cast<double>(one.look.descriptors)});
  }
  constexpr double least = 3;
  return time_to_limit(growth_of(counts, least), counts.back().value, static_cast<double>(*limit_));
}

}  // namespace tracso
