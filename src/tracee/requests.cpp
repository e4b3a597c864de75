#include "tracee/requests.hpp"

#include "base/text.hpp"
#include "base/unique_fd.hpp"
#include "tracee/as_pointer.hpp"

#include <fcntl.h>
#include <linux/kcmp.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <string_view>
#include <thread>

namespace tracso::tracee {
namespace {

// thread: 0 where nothing has happened yet, -1 where there is nobody to wait for.
Report wait_now(pid_t thread) {
  Report report;
  // __WNOTHREAD: children of other threads of ours are theirs to wait for. WUNTRACED: a child that
  // is not traced (any more) tells of job control too.
  constexpr int how = __WALL | __WNOTHREAD | WNOHANG | WUNTRACED;
  do {
    report.thread = waitpid(thread == 0 ? -1 : thread, &report.status, how);
  } while (report.thread < 0 && errno == EINTR);
  return report;
}

}  // namespace

int seize(pid_t thread, Follow follow) {
  const std::uint64_t everything = PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
                                   PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT | PTRACE_O_TRACESYSGOOD;
  const std::uint64_t options = follow == Follow::everything ? everything : 0;
  return ptrace(PTRACE_SEIZE, thread, nullptr, as_pointer(options)) == 0 ? 0 : errno;
}

int interrupt(pid_t thread) {
  return ptrace(PTRACE_INTERRUPT, thread, nullptr, nullptr) == 0 ? 0 : errno;
}

void resume(pid_t thread, int signal) {
  ptrace(PTRACE_CONT, thread, nullptr, as_pointer(static_cast<std::uint64_t>(signal)));
}

void resume_to_system_call(pid_t thread, int signal) {
  ptrace(PTRACE_SYSCALL, thread, nullptr, as_pointer(static_cast<std::uint64_t>(signal)));
}

bool step(pid_t thread) {
  return ptrace(PTRACE_SINGLESTEP, thread, nullptr, nullptr) == 0;
}

void listen(pid_t thread) {
  ptrace(PTRACE_LISTEN, thread, nullptr, nullptr);
}

bool detach(pid_t thread, int signal) {
  return ptrace(PTRACE_DETACH, thread, nullptr, as_pointer(static_cast<std::uint64_t>(signal))) ==
         0;
}

std::optional<unsigned long> event_message(pid_t thread) {
  unsigned long message = 0;
  if (ptrace(PTRACE_GETEVENTMSG, thread, nullptr, &message) != 0) {
    return std::nullopt;
  }
  return message;
}

std::optional<siginfo_t> signal_details(pid_t thread) {
  siginfo_t details{};
  if (ptrace(PTRACE_GETSIGINFO, thread, nullptr, &details) != 0) {
    return std::nullopt;
  }
  return details;
}

bool is_breakpoint(const siginfo_t& details) {
  // x86 says SI_KERNEL, the others TRAP_BRKPT.
  return details.si_signo == SIGTRAP &&
         (details.si_code == SI_KERNEL || details.si_code == TRAP_BRKPT);
}

std::optional<std::uint64_t> peek(pid_t thread, std::uint64_t address) {
  errno = 0;
  const long word = ptrace(PTRACE_PEEKTEXT, thread, as_pointer(address), nullptr);
  if (word == -1 && errno != 0) {
    return std::nullopt;
  }
  return static_cast<std::uint64_t>(word);
}

bool poke(pid_t thread, std::uint64_t address, std::uint64_t word) {
  return ptrace(PTRACE_POKETEXT, thread, as_pointer(address), as_pointer(word)) == 0;
}

std::optional<Report> poll_report(pid_t thread) {
  const Report report = wait_now(thread);
  return report.thread > 0 ? std::optional(report) : std::nullopt;
}

std::optional<Report> await_report(pid_t thread, std::chrono::milliseconds limit) {
  using std::chrono::steady_clock;
  const auto end = steady_clock::now() + limit;
  auto pause = std::chrono::microseconds(10);
  for (;;) {
    const Report report = wait_now(thread);
    if (report.thread > 0) {
      return report;
    }
    // Below 0: nobody's child any more, its number went to the thread that has called exec.
    if (report.thread < 0 || steady_clock::now() >= end) {
      return std::nullopt;
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::microseconds(2000));
  }
}

namespace {

std::optional<pid_t> status_number(pid_t thread, std::string_view name) {
  const std::string path = "/proc/" + std::to_string(thread) + "/status";
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 1024> text{};
  const ssize_t count = fd ? read(fd.get(), text.data(), text.size()) : -1;
  const std::string_view status(text.data(), count > 0 ? static_cast<std::size_t>(count) : 0);
  for (const std::string_view line : split(status, '\n')) {
    if (line.starts_with(name)) {
      const auto number = parse_unsigned(trim(line.substr(name.size())));
      return number ? std::optional(static_cast<pid_t>(*number)) : std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<pid_t> process_of(pid_t thread) {
  return status_number(thread, "Tgid:");
}

std::optional<pid_t> parent_of(pid_t thread) {
  return status_number(thread, "PPid:");
}

std::optional<bool> share_memory(pid_t one, pid_t other) {
  const long order = syscall(SYS_kcmp, one, other, KCMP_VM, 0, 0);
  return order < 0 ? std::nullopt : std::optional(order == 0);
}

}  // namespace tracso::tracee
