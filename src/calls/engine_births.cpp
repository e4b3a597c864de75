// Threads and child processes of what the engine traces: each stops before its first instruction.

#include "calls/engine.hpp"
#include "tracee/guardian.hpp"

#include <algorithm>
#include <utility>

namespace tracso::calls {
namespace {

using tracee::StopKind;

// A newborn only has to be scheduled once.
constexpr std::chrono::milliseconds first_stop_limit{2000};
// So long after its first stop nobody will tell of it any more: its parent has been killed.
constexpr std::chrono::milliseconds orphan_age{100};

constexpr std::size_t most_guardians = 64;  // processes of ours, one for each memory

}  // namespace

EngineThread& Engine::add_thread(pid_t number, std::shared_ptr<EngineProcess> process) {
  EngineThread& thread = threads_[number];
  thread = {};
  thread.number = number;
  thread.process = std::move(process);
  return thread;
}

std::uint32_t Engine::begin_program(pid_t pid) {
  TracedProgram program;
  program.pid = pid;
  const auto process = doors_.process(pid);
  const auto words = process ? (*process)->read("cmdline") : Result<std::string>(process.error());
  program.command = words ? *words : std::string();
  program.command.resize(program.command.find_last_not_of('\0') + 1);
  std::replace(program.command.begin(), program.command.end(), '\0', ' ');
  told_programs_.push_back(program);
  sink_.begin_program(programs_, pid);
  return programs_++;
}

void Engine::on_birth(EngineThread& parent, StopKind kind) {
  const auto child = static_cast<pid_t>(tracee::event_message(parent.number).value_or(0));
  parent.bears = kind == StopKind::forked_shared;
  if (child > 0 && threads_.count(child) == 0) {
    bool stands = early_.erase(child) > 0;
    if (!stands) {
      const auto report = tracee::await_report(child, first_stop_limit);
      const auto stop = report ? tracee::decode_status(report->status) : tracee::Stop{};
      stands = report && stop.kind != StopKind::exited && stop.kind != StopKind::killed;
    }
    if (stands) {
      adopt(child, &parent);
    }
  }
  resume(parent);
}

// `child` stands at its first stop. `parent`: the thread that has borne it, nullptr: not known.
void Engine::adopt(pid_t child, const EngineThread* parent) {
  const auto pid = tracee::process_of(child);
  if (const auto thread = pid ? threads_.find(*pid) : threads_.end();
      thread != threads_.end() && *pid != child) {
    resume(add_thread(child, thread->second.process));
    return;
  }
  // A thread whose process's first thread has ended is told by its parent alone.
  if (parent != nullptr && pid && *pid == parent->process->pid) {
    resume(add_thread(child, parent->process));
    return;
  }
  const auto number = parent != nullptr ? std::optional(parent->number) : tracee::parent_of(child);
  const auto found = number ? threads_.find(*number) : threads_.end();
  if (found == threads_.end()) {
    if (const auto command = threads_.find(pid_); command != threads_.end()) {
      command->second.process->memory->breakpoints.clean_copy(child);
    }
    tracee::detach(child, 0);
    ++children_let_go_;
    return;
  }
  const auto owner = found->second.process;
  if (tracee::share_memory(*number, child).value_or(found->second.bears)) {
    auto process = std::make_shared<EngineProcess>(*owner);
    process->pid = child;
    process->told = options_.follow && owner->told;
    resume(add_thread(child, std::move(process)));
    return;
  }
  adopt_copy(child, *owner, parent);
}

// A child of fork: what stands in its memory is a copy of what stands in its parent's.
void Engine::adopt_copy(pid_t child, EngineProcess& parent, const EngineThread* thread) {
  if (!options_.follow || !parent.told) {
    parent.memory->breakpoints.clean_copy(child);
    tracee::detach(child, 0);
    ++children_let_go_;
    return;
  }
  auto process = std::make_shared<EngineProcess>(parent);
  process->pid = child;
  process->memory = std::make_shared<EngineMemory>();
  auto& memory = *process->memory;
  memory.objects = parent.memory->objects;
  memory.loader_events = parent.memory->loader_events;
  memory.errno_function = parent.memory->errno_function;
  memory.breakpoints = parent.memory->breakpoints.copied(child);
  for (const auto& [address, place] : parent.memory->places) {
    if (memory.breakpoints.is_inserted(address)) {
      memory.places.emplace(address, place);
    }
  }
  if (programs_ < most_guardians) {
    give_guardian(memory);
    memory.breakpoints.guard_all(child);
  }
  process->program = begin_program(child);
  EngineThread& only = add_thread(child, std::move(process));
  if (thread != nullptr) {
    only.calls = thread->calls;
    only.system_call = thread->system_call;
  }
  resume(only);
}

void Engine::adopt_orphans() {
  const auto now = std::chrono::steady_clock::now();
  for (auto at = early_.begin(); at != early_.end();) {
    if (now - at->second.since < orphan_age) {
      ++at;
      continue;
    }
    const pid_t child = at->first;
    at = early_.erase(at);
    adopt(child, nullptr);
  }
}

}  // namespace tracso::calls
