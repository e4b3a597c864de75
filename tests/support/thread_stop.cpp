#include "support/thread_stop.hpp"

#include "base/result.hpp"
#include "base/text.hpp"
#include "os/live_process.hpp"

#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

#include <cerrno>
#include <set>
#include <string>

namespace tracso::test {
namespace {

class Stopped final : public python::Stop {
 public:
  ~Stopped() override {
    for (const auto thread : threads_) {
      ::ptrace(PTRACE_DETACH, thread, nullptr, nullptr);
    }
  }

  // 0, or the errno of a thread that may not be stopped.
  int add(pid_t thread) {
    if (::ptrace(PTRACE_SEIZE, thread, nullptr, nullptr) != 0) {
      return errno == ESRCH ? 0 : errno;
    }
    ::ptrace(PTRACE_INTERRUPT, thread, nullptr, nullptr);
    int status = 0;
    if (::waitpid(thread, &status, __WALL) == thread && WIFSTOPPED(status)) {
      threads_.insert(thread);
    }
    return 0;
  }

  bool has(pid_t thread) const { return threads_.count(thread) != 0; }

 private:
  std::set<pid_t> threads_;
};

}  // namespace

Result<std::unique_ptr<python::Stop>> stop_threads(std::int32_t pid) {
  const auto process = os::LiveProcess::open(pid);
  if (!process) {
    return process.error();
  }
  auto stopped = std::make_unique<Stopped>();
  // A thread may be born while others are stopped: again until a look finds nothing new.
  for (bool fresh = true; fresh;) {
    fresh = false;
    const auto threads = (*process)->list("task");
    if (!threads) {
      return threads.error();
    }
    for (const auto& name : *threads) {
      const auto thread = static_cast<pid_t>(parse_unsigned(name).value_or(0));
      if (!stopped->has(thread)) {
        fresh = true;
        if (const int number = stopped->add(thread)) {
          return errno_error(number, "stop", name);
        }
      }
    }
  }
  return std::unique_ptr<python::Stop>(std::move(stopped));
}

std::uint64_t thread_pointer(std::int32_t thread) {
#if defined(__x86_64__)
  user_regs_struct registers{};
  const bool known = ::ptrace(PTRACE_GETREGS, thread, nullptr, &registers) == 0;
  return known ? registers.fs_base : 0;
#else
  constexpr int arm_thread_pointer = 0x401;  // NT_ARM_TLS
  std::uint64_t pointer = 0;
  iovec into{&pointer, sizeof pointer};
  const bool known = ::ptrace(PTRACE_GETREGSET, thread, arm_thread_pointer, &into) == 0;
  return known ? pointer : 0;
#endif
}

}  // namespace tracso::test
