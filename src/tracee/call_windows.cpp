#include "tracee/call_windows.hpp"

#include "tracee/requests.hpp"

namespace tracso::tracee {

void CallWindows::count(pid_t thread) {
  const auto left = left_.find(thread);
  if (left != left_.end() && --left->second == 0) {
    left_.erase(left);
  }
}

void CallWindows::resume(pid_t thread, int signal) const {
  if (left_.count(thread) > 0) {
    resume_to_system_call(thread, signal);
  } else {
    tracee::resume(thread, signal);
  }
}

}  // namespace tracso::tracee
