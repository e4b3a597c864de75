#include "tracee/system_call.hpp"

#include "base/text.hpp"
#include "base/unique_fd.hpp"

#include <fcntl.h>
#include <linux/audit.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <string>
#include <string_view>

namespace tracso::tracee {
namespace {

struct Numbers {
  std::uint32_t architecture = 0;
  std::uint64_t ptrace = 0, execve = 0, execveat = 0;
};

#if defined(__x86_64__)
constexpr std::array<Numbers, 2> numbers = {
    {{AUDIT_ARCH_X86_64, SYS_ptrace, SYS_execve, SYS_execveat}, {AUDIT_ARCH_I386, 26, 11, 358}}};
#elif defined(__aarch64__)
constexpr std::array<Numbers, 1> numbers = {
    {{AUDIT_ARCH_AARCH64, SYS_ptrace, SYS_execve, SYS_execveat}}};
#else
constexpr std::array<Numbers, 0> numbers = {};
#endif

SystemCall meaning(const Numbers& known, const __ptrace_syscall_info& info) {
  const auto& arguments = info.entry.args;
  SystemCall call;
  if (info.entry.nr == known.ptrace) {
    const auto request = arguments[0];
    call.target = static_cast<pid_t>(arguments[1]);
    call.kind = request == PTRACE_TRACEME ? SystemCall::Kind::asks_to_be_traced
                : request == PTRACE_ATTACH || request == PTRACE_SEIZE ? SystemCall::Kind::traces
                                                                      : SystemCall::Kind::other;
  } else if (info.entry.nr == known.execve) {
    call = {SystemCall::Kind::executes, 0, arguments[0], AT_FDCWD};
  } else if (info.entry.nr == known.execveat) {
    call = {SystemCall::Kind::executes, 0, arguments[1], static_cast<std::int32_t>(arguments[0])};
  }
  return call;
}

std::string text_at(pid_t thread, std::uint64_t address) {
  const UniqueFd memory(
      open(("/proc/" + std::to_string(thread) + "/mem").c_str(), O_RDONLY | O_CLOEXEC));
  constexpr std::uint64_t most_at_once = 4096;
  std::string text;
  while (memory && text.size() < PATH_MAX) {
    std::array<char, most_at_once> piece{};
    const std::size_t size = most_at_once - (address + text.size()) % most_at_once;
    const ssize_t count =
        pread(memory.get(), piece.data(), size, static_cast<off_t>(address + text.size()));
    if (count <= 0) {
      return "";
    }
    const std::string_view got(piece.data(), static_cast<std::size_t>(count));
    const auto end = got.find('\0');
    text += got.substr(0, end);
    if (end != std::string_view::npos) {
      return text;
    }
  }
  return "";
}

// As the thread sees it. An absolute link in another root leads astray: then nothing is found.
std::string path_from_here(pid_t thread, const SystemCall& call) {
  const std::string process = "/proc/" + std::to_string(thread);
  const std::string path = text_at(thread, call.path);
  if (path.starts_with('/')) {
    return process + "/root" + path;
  }
  const std::string folder =
      call.folder == AT_FDCWD ? "/cwd" : "/fd/" + std::to_string(call.folder);
  return process + folder + (path.empty() ? "" : "/" + path);
}

// The kernel does not withhold anything from a process whose tracer has this right.
bool may_trace_everything() {
  constexpr unsigned sys_ptrace = 19;  // CAP_SYS_PTRACE
  const UniqueFd fd(open("/proc/self/status", O_RDONLY | O_CLOEXEC));
  std::array<char, 4096> text{};
  const ssize_t count = fd ? read(fd.get(), text.data(), text.size()) : -1;
  const std::string_view status(text.data(), count > 0 ? static_cast<std::size_t>(count) : 0);
  for (const std::string_view line : split(status, '\n')) {
    if (line.starts_with("CapEff:")) {
      const auto rights = parse_unsigned(trim(line.substr(7)), 16);
      return rights && ((*rights >> sys_ptrace) & 1U) != 0;
    }
  }
  return false;
}

}  // namespace

std::optional<SystemCall> current_call(pid_t thread) {
  __ptrace_syscall_info info{};
  const auto size = reinterpret_cast<void*>(sizeof info);  // NOLINT: ptrace takes it as a pointer
  if (ptrace(PTRACE_GET_SYSCALL_INFO, thread, size, &info) <= 0) {
    return std::nullopt;
  }
  if (info.op == PTRACE_SYSCALL_INFO_EXIT) {
    return SystemCall{SystemCall::Kind::returned, 0, 0, 0};
  }
  if (info.op != PTRACE_SYSCALL_INFO_ENTRY) {
    return std::nullopt;
  }
  const auto known = std::find_if(numbers.begin(), numbers.end(), [&](const Numbers& one) {
    return one.architecture == info.arch;
  });
  return known == numbers.end() ? SystemCall{} : meaning(*known, info);
}

bool would_lose_privileges(pid_t thread, const SystemCall& call) {
  static const bool never = may_trace_everything();
  if (never) {
    return false;
  }
  const std::string path = path_from_here(thread, call);

  struct stat program {};

  if (stat(path.c_str(), &program) != 0 || !S_ISREG(program.st_mode)) {
    return false;
  }
  const bool as_user = (program.st_mode & S_ISUID) != 0 && program.st_uid != geteuid();
  const bool as_group = (program.st_mode & S_ISGID) != 0 && (program.st_mode & S_IXGRP) != 0 &&
                        program.st_gid != getegid();
  return as_user || as_group || getxattr(path.c_str(), "security.capability", nullptr, 0) > 0;
}

}  // namespace tracso::tracee
