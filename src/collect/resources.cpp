#include "collect/resources.hpp"

#include "base/text.hpp"
#include "collect/children.hpp"
#include "proc/status.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace tracso {
namespace {

using Number = std::optional<std::uint64_t>;

Number less(const Number& now, const Number& then) {
  return now && then ? Number(*now - std::min(*now, *then)) : std::nullopt;
}

std::vector<std::int32_t> thread_numbers(const ProcessSource& process) {
  std::vector<std::int32_t> numbers;
  const auto names = process.list("task");
  for (const std::string& name : names ? *names : std::vector<std::string>()) {
    if (const auto number = parse_unsigned(name); number && *number <= INT32_MAX) {
      numbers.push_back(static_cast<std::int32_t>(*number));
    }
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

}  // namespace

std::vector<ThreadInfo> collect_threads(const ProcessSource& process) {
  std::vector<ThreadInfo> threads;
  for (const std::int32_t tid : thread_numbers(process)) {
    if (const auto name = process.read("task/" + std::to_string(tid) + "/comm")) {
      threads.push_back({tid, std::string(trim(*name))});
    }
  }
  return threads;
}

std::optional<ChildProcess> look_at_child(const ProcessSource& child) {
  const auto text = child.read("stat");
  const auto stat = text ? proc::parse_stat(*text) : std::nullopt;
  if (!stat) {
    return std::nullopt;
  }
  ChildProcess out;
  out.pid = child.pid();
  out.parent = stat->parent;
  out.name = stat->name;
  out.state = stat->state;
  if (const auto status = child.read("status")) {
    const auto memory = proc::parse_memory_status(*status);
    out.resident = memory.resident;
    out.peak = memory.peak;
  }
  return out;
}

std::vector<ChildProcess> collect_descendants(const ProcessSource& process,
                                              const OpenProcess& open) {
  std::vector<ChildProcess> found;
  std::vector<std::pair<std::int32_t, std::int32_t>> queue;  // child, its parent
  const auto enqueue = [&](const ProcessSource& parent) {
    for (const std::int32_t child : proc::read_children(parent)) {
      queue.emplace_back(child, parent.pid());
    }
  };
  enqueue(process);
  for (std::size_t at = 0; at < queue.size() && found.size() < most_descendants; ++at) {
    const auto [pid, parent] = queue[at];
    const auto door = open(pid);
    auto child = door ? look_at_child(*door) : std::nullopt;
    if (!child || child->parent != parent) {
      continue;
    }
    found.push_back(std::move(*child));
    enqueue(*door);
  }
  return found;
}

Activity collect_activity(const ProcessSource& process) {
  Activity activity;
  const auto text = process.read("io");
  if (const auto io = text ? proc::parse_io(*text) : std::nullopt) {
    activity.read_bytes = io->read_bytes;
    activity.written_bytes = io->written_bytes;
    activity.disk_read_bytes = io->disk_read_bytes;
    activity.disk_written_bytes = io->disk_written_bytes;
  }
  for (const std::int32_t tid : thread_numbers(process)) {
    const auto status = process.read("task/" + std::to_string(tid) + "/status");
    if (const auto switches = status ? proc::parse_switches(*status) : std::nullopt) {
      activity.voluntary_switches = activity.voluntary_switches.value_or(0) + switches->voluntary;
      activity.forced_switches = activity.forced_switches.value_or(0) + switches->forced;
    }
  }
  return activity;
}

Activity activity_since(const Activity& now, const Activity& then) {
  return {less(now.read_bytes, then.read_bytes),
          less(now.written_bytes, then.written_bytes),
          less(now.disk_read_bytes, then.disk_read_bytes),
          less(now.disk_written_bytes, then.disk_written_bytes),
          less(now.voluntary_switches, then.voluntary_switches),
          less(now.forced_switches, then.forced_switches)};
}

}  // namespace tracso
