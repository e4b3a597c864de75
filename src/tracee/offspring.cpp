#include "tracee/offspring.hpp"

#include <algorithm>

namespace tracso::tracee {

pid_t Offspring::process_of(pid_t thread) const {
  const auto found = threads_.find(thread);
  return found == threads_.end() ? 0 : found->second.process;
}

std::vector<pid_t> Offspring::threads_of(pid_t process) const {
  std::vector<pid_t> threads;
  for (const auto& [thread, state] : threads_) {
    if (state.process == process) {
      threads.push_back(thread);
    }
  }
  return threads;
}

std::set<pid_t> Offspring::processes() const {
  std::set<pid_t> processes;
  for (const auto& [thread, state] : threads_) {
    processes.insert(state.process);
  }
  return processes;
}

bool Offspring::is_stopped(pid_t thread) const {
  const auto found = threads_.find(thread);
  return found != threads_.end() && found->second.stopped;
}

void Offspring::set_stopped(pid_t thread, bool stopped) {
  const auto found = threads_.find(thread);
  if (found != threads_.end()) {
    found->second.stopped = stopped;
  }
}

void Offspring::executed(pid_t thread) {
  const pid_t process = process_of(thread);
  std::erase_if(threads_, [&](const auto& entry) {
    return entry.second.process == process && entry.first != thread;
  });
  threads_[thread] = {process, true, false};
  told_.erase(process);
}

bool Offspring::ends(pid_t thread, bool takes_all) {
  const auto found = threads_.find(thread);
  if (found == threads_.end()) {
    return false;
  }
  found->second.ending = true;
  const pid_t process = found->second.process;
  const bool others = std::any_of(threads_.begin(), threads_.end(), [&](const auto& entry) {
    return entry.second.process == process && !entry.second.ending;
  });
  const bool is_end = !others || (takes_all && thread == process);
  return is_end && told_.insert(process).second;
}

void Offspring::forget(pid_t thread) {
  const pid_t process = process_of(thread);
  threads_.erase(thread);
  if (process != 0 && threads_of(process).empty()) {
    told_.erase(process);
  }
}

}  // namespace tracso::tracee
