// The tasks of asyncio of one runtime, read until two readings in a row agree, as stacks are.

#include "python/layouts.hpp"
#include "python/memory_locate.hpp"
#include "python/runtime_stacks.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace tracso::python {
namespace {

constexpr std::uint32_t first_with_lists = 14;

// The tasks that are as they were a reading before, by address.
using Settled = std::map<std::uint64_t, bool>;

Settled compared(const TasksReading& now, const TasksReading& before) {
  Settled settled;
  auto old = before.tasks.begin();
  for (const auto& task : now.tasks) {
    old = std::find_if(old, before.tasks.end(), [&](const TaskReading& one) {
      return one.address >= task.address;
    });
    settled[task.address] = old != before.tasks.end() && *old == task;
  }
  return settled;
}

AsyncTask::State state_of(const TaskReading& task) {
  switch (task.state) {
    case CoroutineState::created:
      return AsyncTask::State::created;
    case CoroutineState::runs:
      return AsyncTask::State::runs;
    default:
      return task.waits_for == 0 ? AsyncTask::State::ready : AsyncTask::State::waits;
  }
}

}  // namespace

std::string RuntimeReader::name_of_task(std::uint64_t address, const TasksReading& all) const {
  const auto found = std::find_if(all.tasks.begin(), all.tasks.end(), [&](const TaskReading& one) {
    return one.address == address;
  });
  return found == all.tasks.end() ? "" : found->name;
}

AsyncTask RuntimeReader::described(const TaskReading& task, const TasksReading& all) {
  AsyncTask out;
  out.name = task.name;
  out.state = state_of(task);
  out.awaits = task.waits_for_type;
  out.awaits_task = task.waits_for == 0 ? "" : name_of_task(task.waits_for, all);
  out.whole = task.whole && task.state != CoroutineState::unreadable;
  out.thread = thread_of(task.thread);
  for (const auto& frame : task.frames) {
    out.frames.push_back(described(frame));
    out.whole = out.whole && !out.frames.back().function.empty();
  }
  return out;
}

TaskLists RuntimeReader::task_lists(std::uint64_t interpreter) const {
  TaskLists lists;
  if (asyncio_) {
    lists.node = asyncio_->node;
    lists.heads.push_back(interpreter + asyncio_->interpreter_list);
    for (const auto& state : states_) {
      if (state.interpreter == interpreter) {
        lists.heads.push_back(state.address + asyncio_->thread_list);
      }
    }
  }
  return lists;
}

void RuntimeReader::read_asyncio(const ProbeInput& input, ThreadStacks& into) {
  const auto minor = objects_.layout().minor;
  // It may be imported after the first look.
  if (minor >= first_with_lists && !asyncio_) {
    asyncio_ = find_asyncio_offsets(input, memory_, header_);
  }
  const bool known = minor < first_with_lists || (minor <= newest_minor && asyncio_);
  for (const auto& interpreter : interpreter_states(objects_, runtime_)) {
    const auto lists = task_lists(interpreter.address);
    std::optional<TasksReading> tasks, before;
    Settled settled;
    for (int round = 0; round < readings; ++round) {
      objects_.forget_objects();
      before = std::exchange(tasks, read_tasks(objects_, interpreter.modules, lists));
      if (!tasks) {
        break;
      }
      settled = compared(*tasks, before.value_or(TasksReading()));
      const bool quiet = std::all_of(
          settled.begin(), settled.end(), [](const auto& entry) { return entry.second; });
      if (round > 0 && quiet && tasks->whole) {
        break;
      }
    }
    into.greenlets =
        into.greenlets || objects_.find(interpreter.modules, Name::greenlet).object != 0;
    if (!tasks) {
      continue;
    }
    if (!known) {
      into.asyncio_unknown = true;
      continue;
    }
    std::vector<Taken> taken;
    for (const auto& task : tasks->tasks) {
      taken.push_back({{task.frames, true}, false});
    }
    fetch_codes(taken);
    auto& all = into.asyncio ? *into.asyncio : into.asyncio.emplace();
    all.others += tasks->others;
    all.whole = all.whole && tasks->whole && !memory_.exhausted();
    for (const auto& task : tasks->tasks) {
      all.tasks.push_back(described(task, *tasks));
      all.tasks.back().torn = !settled[task.address];
    }
  }
}

}  // namespace tracso::python
